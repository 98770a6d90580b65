import type { Command } from 'commander'
import { errorCodes } from '../errors.ts'
import { race } from '../race/race.ts'
import { decideClaims, writeRace } from './decide-claims.ts'
import { type LoadFlags, optionsOf, withLoadFlags } from './load-flags.ts'
import { parseSubject } from './subject-argument.ts'
import { assertWritable } from './write-results.ts'

const EXAMPLES = `
Subjects read HOST and PORT, or take {host} and {port} in their command line:
  speed-bounds race fastify.ts express.ts --at-least 1.5
  speed-bounds race 'go=./server --listen {host}:{port}' node=server.js

Exit code: 0 every claim holds, 1 one is broken, 3 one is inconclusive,
2 wrong usage, 4 the race failed.`

export function addRaceCommand(program: Command): void {
  withLoadFlags(program.command('race'), { budget: '60s' })
    .description('race the first server against each of the others')
    .argument('<subjects...>', 'a script that Node runs, or a quoted command line. name=... sets its name')
    .option('--json <file>', 'write the result as JSON')
    .option('--markdown <file>', 'write the tables as Markdown')
    .addHelpText('after', EXAMPLES)
    .action(runRace)
}

async function runRace(
  subjects: string[],
  { json, markdown, ...flags }: LoadFlags & { json?: string; markdown?: string },
): Promise<void> {
  const named = Object.fromEntries(subjects.map(parseSubject))
  if (Object.keys(named).length < subjects.length) {
    throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION('Invalid subjects: expected different names, use name=...')
  }
  assertWritable(json, markdown)
  const match = race(named, optionsOf(flags))
  const { atLeast, metric } = flags
  const claims = match.subjects.slice(1).map((over) => ({ over, atLeast, ...(metric && { metric }) }))
  writeRace(match, await decideClaims(match, claims), { json, markdown })
}
