import type { Command } from 'commander'
import { race } from '../race/race.ts'
import { decideClaims, finishRace } from './decide-claims.ts'
import { type LoadFlags, optionsOf, withLoadFlags } from './load-flags.ts'
import { parseSubjects } from './subject-argument.ts'
import { nodeVersions, onVersions } from './node-versions.ts'
import { line } from './output.ts'
import { assertOutputFiles, type OutputFiles, withOutputFiles } from './output-files.ts'

const EXAMPLES = `
Subjects read HOST and PORT, or take {host} and {port} in their command line:
  speed-bounds race fastify.ts express.ts --at-least 1.5
  speed-bounds race 'go=./server --listen {host}:{port}' node=server.js

One server on two versions of Node, from npm:
  speed-bounds race server.js --node 22,24

Exit code: 0 every claim holds, 1 one is broken, 3 one is inconclusive,
2 wrong usage, 4 the race failed.`

export function addRaceCommand(program: Command): void {
  withOutputFiles(withLoadFlags(program.command('race'), { budget: '60s' }))
    .description('race the first server against each of the others')
    .argument('<subjects...>', 'a script that Node runs, or a quoted command line. name=... sets its name')
    .option('--profile', 'profile each subject that Node runs, after the race')
    .option('--node <versions>', 'race each script on these versions: 22,24', nodeVersions)
    .addHelpText('after', EXAMPLES)
    .action(runRace)
}

interface RaceFlags extends LoadFlags, OutputFiles {
  profile?: true
  node?: string[]
}

async function runRace(
  subjects: string[],
  { json, markdown, html, csv, profile, node, ...flags }: RaceFlags,
): Promise<void> {
  const named = parseSubjects(subjects)
  const outputs = { json, markdown, html, csv }
  assertOutputFiles(outputs)
  const raced = node ? await onVersions(named, node, step) : named
  const match = race(raced, optionsOf(flags))
  const { atLeast, metric } = flags
  const claims = match.subjects.slice(1).map((over) => ({ over, atLeast, ...(metric && { metric }) }))
  const verdicts = await decideClaims(match, claims)
  await finishRace(match, verdicts, { ...outputs, ...(profile && { profile }) })
}

function step(text: string): void {
  line.clear()
  process.stderr.write(`${text}\n`)
}
