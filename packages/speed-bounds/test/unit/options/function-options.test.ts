import { expect, it } from 'vitest'
import { errorCodes, type FunctionRaceOptions, race } from '../../../src/index.ts'
import { resolveFunctionClaim, resolveFunctionRace } from '../../../src/options/function-options.ts'

it.each<[keyof FunctionRaceOptions, unknown, string]>([
  ['group', 5, 'a string'],
  ['warmUp', 9, 'milliseconds, an integer from 10 to 2147483647'],
  ['duration', '250', 'milliseconds, an integer from 10 to 2147483647'],
  ['replicas', 2, 'an integer of at least 3'],
  ['alpha', 0, 'a number above 0 and at most 0.2'],
  ['budget', 0, 'milliseconds, an integer from 1 to 2147483647'],
  ['callTimeout', -1, 'milliseconds, an integer from 1 to 2147483647'],
  ['maxForeignCpu', -1, 'a number of at least 0'],
  ['nodeArgs', '--no-opt', 'an array, each item a string'],
  ['env', { A: 1 }, 'a string'],
  ['cwd', '', 'a path'],
  ['seed', 1.5, 'an integer'],
  ['onProgress', true, 'a function'],
])('race() of functions rejects %s: %j', (name, value, expected) => {
  const url = new URL('a.bench.ts', import.meta.url)
  const wrong = (): unknown => race(url, { [name]: value })
  expect(wrong).toThrow(errorCodes.SPEED_BOUNDS_INVALID_OPTION)
  expect(wrong).toThrow(`expected ${expected}, got`)
})

it('race() of functions rejects options of servers', () => {
  expect(() => race(new URL('a.bench.ts', import.meta.url), { path: '/' } as FunctionRaceOptions)).toThrow(
    'Invalid option "path": unknown.',
  )
})

it('has a random seed and the current folder by default', () => {
  const { seed, cwd } = resolveFunctionRace({})
  expect(Number.isInteger(seed)).toBe(true)
  expect(cwd).toBe(process.cwd())
})

it.each<[string, { names: string[]; group?: string }, string]>([
  ['another group', { names: ['a', 'b'], group: 'h' }, '"case": expected the raced group, "h", got "g".'],
  ['a group', { names: ['a', 'b'] }, '"case": expected no case, because the functions have no groups, got "g".'],
  ['two functions', { names: ['b'] }, '"over": expected a second function beside b, got "b".'],
])('rejects a claim about %s that the race does not have', (_, functions, message) => {
  const claim = { atLeast: 2, case: 'g' }
  expect(() => resolveFunctionClaim(resolveFunctionRace({}), { ...functions, label: 'a' }, 'b', claim)).toThrow(message)
})

it('accepts a claim about the raced group', () => {
  const functions = { names: ['a', 'b'], group: 'g', label: 'a.bench.ts, g' }
  const claim = resolveFunctionClaim(resolveFunctionRace({}), functions, 'b', { atLeast: 2, case: 'g' })
  expect(claim).toMatchObject({ contender: 'a', over: 'b', case: 'a.bench.ts, g' })
})
