import { type FunctionRace, raceFunctions } from './functions/function-race.ts'
import type { RacedFunction } from './functions/benchmark-file.ts'
import { inlineFunctions } from './functions/raced-functions.ts'
import { assertOption } from './options/check.ts'
import type { FunctionRaceOptions } from './options/function-options.ts'
import type { RaceOptions, Subject } from './options/types.ts'
import { type Race, race as raceServers } from './race/race.ts'

/**
 * Races servers that send the same responses.
 *
 * @param subjects - servers by name, see {@link Subject}
 * @param options - the request, the load and the method, see {@link RaceOptions}
 * @throws SPEED_BOUNDS_INVALID_OPTION
 *
 * @example
 * const decision = await race({ fastify: './fastify.ts', express: './express.ts' }, { path: '/' })
 *   .decide('express', { atLeast: 1.5 })
 * console.log(decision.verdict) // 'holds', 'broken' or 'inconclusive'
 */
export function race(subjects: Readonly<Record<string, Subject>>, options: RaceOptions): Race
/**
 * Races functions, each in fresh processes.
 *
 * @param functions - the URL of a file with `export default { name: () => … }`, or functions by name that use no variable
 *   from outside of them
 * @param options - the method, see {@link FunctionRaceOptions}
 * @throws SPEED_BOUNDS_INVALID_OPTION
 * @throws SPEED_BOUNDS_OUTER_VARIABLE
 *
 * @example
 * const decision = await race(new URL('./parse.bench.ts', import.meta.url)).decide('theirs', { atLeast: 1.2 })
 * console.log(decision.verdict) // 'holds', 'broken' or 'inconclusive'
 */
export function race(
  functions: URL | Readonly<Record<string, RacedFunction>>,
  options?: FunctionRaceOptions,
): FunctionRace
export function race(
  subjects: URL | Readonly<Record<string, RacedFunction>> | Readonly<Record<string, Subject>>,
  options: RaceOptions | FunctionRaceOptions = {},
): Race | FunctionRace {
  if (subjects instanceof URL) {
    assertOption(subjects.protocol === 'file:', 'functions', 'a file URL', subjects.href)
    return raceFunctions({ url: subjects.href }, options)
  }
  if (areFunctions(subjects)) return raceFunctions(inlineFunctions(subjects), options)
  return raceServers(subjects, options)
}

/** Whether the first subject is a function. */
function areFunctions(
  subjects: Readonly<Record<string, RacedFunction | Subject>>,
): subjects is Readonly<Record<string, RacedFunction>> {
  return typeof Object.values(subjects ?? {})[0] === 'function'
}
