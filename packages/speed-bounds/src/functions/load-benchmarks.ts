import { list, object } from 'checked-options'
import { assertOption, check } from '../options/check.ts'
import type { ConfigClaim } from '../options/config-types.ts'
import { resolveFunctionClaim, resolveFunctionRace, type FunctionRaceOptions } from '../options/function-options.ts'
import { configClaimSchema } from '../options/schema.ts'
import { exclusively } from '../race/race-queue.ts'
import { raceFunctions, type FunctionRace } from './function-race.ts'
import { functionsOfGroup, listFunctions, type RacedFunctions } from './raced-functions.ts'
import { runFunctionProcess } from './run-function-process.ts'

/** So that an error names the claim. */
const exportedSchema = object({ claims: list(configClaimSchema) })

/** A race of the functions of one group, and the claims of the file about it. */
export interface Benchmark {
  readonly race: FunctionRace
  readonly functions: RacedFunctions
  readonly claims: readonly ConfigClaim[]
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
    const names = groups.map(({ group }) => group)
    const { claims: checked } = check(exportedSchema, { claims })
    const unknown = checked.find((claim) => claim.case !== undefined && !names.includes(claim.case))
    assertOption(!unknown, 'claims.case', `a group of the file: ${names.join(', ') || 'none'}`, unknown?.case)
    for (const group of groups) {
      const functions = functionsOfGroup(url.href, group)
      const own = checked.filter((claim) => claim.case === undefined || claim.case === group.group)
      // Nothing has been measured yet.
      for (const { over, ...claim } of own) resolveFunctionClaim(runtime, functions, over, claim)
      loaded.push({
        functions,
        claims: own,
        race: raceFunctions(functions, options),
      })
    }
  })
  return loaded
}
