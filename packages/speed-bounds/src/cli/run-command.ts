import type { Command } from 'commander'
import { type Config, readConfig } from '../config/read-config.ts'
import { resolveClaim } from '../options/resolve-claim.ts'
import { resolveRace } from '../options/resolve.ts'
import type { RaceOptions } from '../options/types.ts'
import { race } from '../race/race.ts'
import { type ConfigFlags, withConfigFlags } from './config-flags.ts'
import { decideClaims, finishRace } from './decide-claims.ts'
import { interruptible } from './interruption.ts'
import { line } from './output.ts'
import { assertOutputFiles } from './output-files.ts'

const EXIT_CODES = `
Exit code: 0 every claim holds, 1 one is broken, 3 one is inconclusive,
2 wrong usage or configuration, 4 the race failed.`

export function addRunCommand(program: Command): void {
  withConfigFlags(program.command('run'))
    .description('race the subjects of the configuration, and decide its claims')
    .addHelpText('after', EXIT_CODES)
    .action(runConfig)
}

async function runConfig({ config: path, budget, ...outputs }: ConfigFlags): Promise<void> {
  const config = await readConfig(path)
  const options = { ...config.raceOptions, ...(budget === undefined ? {} : { budget }), onProgress: line.show }
  const match = race(config.subjects, options)
  assertClaims(config, options)
  assertOutputFiles(outputs)
  await interruptible(async (signal) => {
    if (config.claims.length === 0) await match.measure({ signal })
    const verdicts = await decideClaims(match, config.claims, signal)
    await finishRace(match, verdicts, outputs, signal)
  })
}

/** Fails on an invalid claim before any process starts. */
function assertClaims({ subjects, claims }: Config, options: RaceOptions): void {
  const resolved = resolveRace(subjects, options)
  for (const [index, { over, ...claim }] of claims.entries()) resolveClaim(resolved, over, claim, `claims[${index}].`)
}
