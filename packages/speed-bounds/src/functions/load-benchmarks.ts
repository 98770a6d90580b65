import type { ConfigClaim } from '../options/config-types.ts'
import { resolveFunctionRace, type FunctionRaceOptions } from '../options/function-options.ts'
import { exclusively } from '../race/race-queue.ts'
import { raceFunctions, type FunctionRace } from './function-race.ts'
import { functionsOfGroup, listFunctions, type RacedFunctions } from './raced-functions.ts'
import { runFunctionProcess } from './run-function-process.ts'

/** A race of the functions of one group, and the claims of the file about it. */
export interface Benchmark {
  readonly race: FunctionRace
  readonly functions: RacedFunctions
  readonly claims: readonly Omit<ConfigClaim, 'case'>[]
}

/** The races of a benchmark file, one for each of its groups. */
export async function loadBenchmarks(
  url: URL,
  options: FunctionRaceOptions,
  signal: AbortSignal,
): Promise<Benchmark[]> {
  const runtime = resolveFunctionRace(options)
  const loaded: Benchmark[] = []
  await exclusively(signal, async (supervisor) => {
    const { groups, claims } = await listFunctions(url.href, (job) =>
      runFunctionProcess(supervisor, job, runtime, signal),
    )
    for (const group of groups) {
      const functions = functionsOfGroup(url.href, group)
      const own = claims.filter((claim) => claim.case === undefined || claim.case === group.group)
      loaded.push({ functions, claims: own.map(({ case: _, ...claim }) => claim), race: raceFunctions(functions, options) })
    }
  })
  return loaded
}
