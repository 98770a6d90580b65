import { expect, it } from 'vitest'
import { errorCodes, type FunctionRaceOptions, race } from '../../../src/index.ts'
import { resolveFunctionRace } from '../../../src/options/function-options.ts'

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
