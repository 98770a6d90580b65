import { basename } from 'node:path'
import { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { errorCodes, race, type RacedFunction } from '../../../src/index.ts'
import { sourceOf } from '../../../src/functions/function-source.ts'

const data = [1, 2, 3]
/** Has the name of a global, and another value. */
const crypto = { randomUUID: () => 'not random' }
let counter = 0
const cov_1a2b = (): { f: number[] } => ({ f: [0] })

/** Makes the variables above visible to V8 as those that functions of this file use. */
export const uses = (): unknown => [data, crypto, counter++, cov_1a2b]

const nothing: RacedFunction = () => 1

const notSelfContained = (fn: RacedFunction): unknown => {
  try {
    sourceOf('a', fn)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(errorCodes.SPEED_BOUNDS_OUTER_VARIABLE)
    return (error as Error).message
  }
}

describe('a function that needs its surroundings is rejected', () => {
  it.each<[string, RacedFunction, string]>([
    ['a variable of the file', () => data.length, 'mentions "data"'],
    ['a variable that hides a global', () => crypto.randomUUID(), 'mentions "crypto"'],
    ['a variable that it changes', () => counter++, 'mentions "counter"'],
    ['an import', () => basename('/a/b'), '(an import)'],
    ['a spread variable', () => [...data], 'mentions "data"'],
    ['a coverage counter', () => (cov_1a2b().f[0]!++, 1), '(a coverage counter'],
    ['a relative import', () => import('../../../src/functions/looks.ts'), 'from outside of it'],
    ['a key with the name of a variable, to be safe', () => ({ data: 1 }), 'mentions "data"'],
    ['a variable in a template', () => `${data.length}`, 'mentions "data"'],
  ])('that has %s', (_, fn, message) => {
    expect(notSelfContained(fn)).toContain(message)
  })

  it('that has a variable of the test', () => {
    const local = Math.random()
    expect(notSelfContained(() => local * 2)).toContain('mentions "local"')
  })

  it.each<[string, RacedFunction]>([
    ['a bound function', nothing.bind(undefined)],
    ['a native function', Math.random],
  ])('that is %s', (_, fn) => {
    expect(notSelfContained(fn)).toContain('has no source')
  })

  it('with one line that says what to do, when the race is created', () => {
    expect(() => race({ a: () => data.length, b: nothing })).toThrow(
      new errorCodes.SPEED_BOUNDS_OUTER_VARIABLE(
        'Function "a" mentions "data" from outside of it, which a fresh process does not have. Move the functions to a file with "export default { … }", and race it by race(new URL("./file.bench.ts", import.meta.url)).',
      ),
    )
  })
})

describe('a self-contained function is taken', () => {
  const methods = {
    method(this: void) {
      return 1
    },
    async later(this: void) {
      return 1
    },
    ['quoted name']: () => 1,
  }

  it.each<[string, RacedFunction]>([
    ['an arrow function', () => [1, 2, 3].map((value) => value + 1)],
    [
      'a function that calls itself',
      function fibonacci(n: unknown = 10): number {
        return Number(n) < 2 ? 1 : fibonacci(Number(n) - 1) + fibonacci(Number(n) - 2)
      },
    ],
    ['a property with the name of a variable', () => (JSON as unknown as { data?: 1 })?.data],
    ['globals', () => JSON.stringify(new URL('http://localhost/')) + process.pid + Buffer.from('x').toString()],
    ['a method', methods.method],
    ['an async method', methods.later],
    ['a quoted name', methods['quoted name']],
  ])('with %s', (_, fn) => {
    const source = sourceOf('a', fn)
    expect(new Script(source).runInThisContext()).toBeTypeOf('function')
  })
})

describe('race() rejects functions', () => {
  it('that are fewer than two', () => {
    expect(() => race({ a: nothing })).toThrow('Invalid option "functions": expected at least 2 functions, got 1.')
  })

  it('beside a server', () => {
    expect(() => race({ a: nothing, b: './b.ts' } as never)).toThrow(
      'Invalid option "functions.b": expected a function, got "./b.ts".',
    )
  })

  it('of a URL that is no file', () => {
    expect(() => race(new URL('https://localhost/a.bench.ts'))).toThrow(
      'Invalid option "functions": expected a file URL, got "https://localhost/a.bench.ts".',
    )
  })
})
