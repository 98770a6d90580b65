import { list, object } from 'checked-options'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCodes } from '../errors.ts'
import { assertOption, check } from '../options/check.ts'
import type { ConfigClaim } from '../options/config-types.ts'
import {
  resolveFunctionClaim,
  resolveFunctionRace,
  type FunctionRaceOptions,
  type ResolvedFunctionRace,
} from '../options/function-options.ts'
import { functionClaimSchema } from '../options/schema.ts'
import { exclusively } from '../race/race-queue.ts'
import { raceFunctions, type FunctionRace } from './function-race.ts'
import { functionsOfGroup, listFunctions, type RacedFunctions } from './raced-functions.ts'
import { runFunctionProcess } from './run-function-process.ts'

/** So that an error names the claim. */
const exportedSchema = object({ claims: list(functionClaimSchema) })

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
    const raced = groups.map((group) => functionsOfGroup(url.href, group))
    // Nothing has been measured yet.
    const checked = namingFile(url, runtime.cwd, () => checkClaims(claims, raced, runtime))
    for (const functions of raced) {
      const own = checked.filter((claim) => isAbout(claim, functions))
      loaded.push({ functions, claims: own, race: raceFunctions(functions, options) })
    }
  })
  return loaded
}

/** Checks each claim of a file against the functions that it is about. */
function checkClaims(
  claims: readonly ConfigClaim[],
  raced: readonly RacedFunctions[],
  runtime: ResolvedFunctionRace,
): readonly ConfigClaim[] {
  const { claims: checked } = check(exportedSchema, { claims })
  for (const [index, claim] of checked.entries()) {
    const { over, ...decided } = claim
    const own = raced.filter((functions) => isAbout(claim, functions))
    const names = raced.flatMap(({ group }) => group ?? []).join(', ')
    const expected = names ? `a group of the file: ${names}` : 'no case, because the file has no groups'
    assertOption(own.length > 0, `claims[${index}].case`, expected, claim.case)
    for (const functions of own) resolveFunctionClaim(runtime, functions, over, decided, `claims[${index}].`)
  }
  return checked
}

/** A claim without a group is about each group. */
function isAbout(claim: ConfigClaim, { group }: RacedFunctions): boolean {
  return claim.case === undefined || claim.case === group
}

/** The command reads several files, so an error must say which one is wrong. */
function namingFile<T>(url: URL, cwd: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof errorCodes.SPEED_BOUNDS_INVALID_OPTION)) throw error
    const file = relative(cwd, fileURLToPath(url))
    throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(`${file}: ${error.message}`, { cause: error })
  }
}
