import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import {
  completeLines,
  JsonLines,
  type JsonLinesOptions,
  type Outcome,
  outcomeOfData as data,
  outcomeOfError,
} from '../../../src/response/json-lines.ts'

function optionsWith(errors: unknown[] = [], more: Partial<JsonLinesOptions> = {}): JsonLinesOptions {
  return {
    serialize: (chunk) => chunk,
    shapeOf: (error, index) => ({ message: String(error), index }),
    onError: (error) => errors.push(error),
    pingMs: undefined,
    ...more,
  }
}

describe('known outcomes', () => {
  it('take one line', () => {
    const outcomes = [data({ a: 1 }), data(undefined), outcomeOfError({ message: 'no' }), data([1])]
    expect(completeLines(outcomes, optionsWith())).toBe(
      '{"0":[[{"result":{"data":{"a":1}}}]],"1":[[{"result":{}}]],"2":[[{"error":{"message":"no"}}]],"3":[[{"result":{"data":[1]}}]]}\n',
    )
  })

  it('take several lines if one is pending, or has a promise or an iterable', () => {
    const later = [Promise.resolve(data(1)), data({ a: Promise.resolve(1) }), data((async function* () {})())]
    for (const outcome of later) expect(completeLines([data(1), outcome], optionsWith())).toBeUndefined()
  })

  it('fail only the one that cannot be serialized', () => {
    const errors: unknown[] = []
    expect(completeLines([data(1), data(2n)], optionsWith(errors))).toBe(
      '{"0":[[{"result":{"data":1}}]],"1":[[{"error":{"message":"TypeError: Do not know how to serialize a BigInt","index":1}}]]}\n',
    )
    expect(errors).toHaveLength(1)
  })
})

describe('pending outcomes', () => {
  const linesOf = async (outcomes: (Outcome | Promise<Outcome>)[], options = optionsWith()): Promise<string[]> =>
    (await text(new JsonLines(outcomes, options))).trimEnd().split('\n')

  it('take a line each, in the order in which they settle', async () => {
    const slow = new Promise<Outcome>((resolve) => setTimeout(resolve, 20, data('slow')))
    const quick = Promise.resolve(data('quick'))
    expect(await linesOf([slow, data('at once'), quick])).toEqual([
      '{"0":[[0],[null,0,0]],"1":[[{"result":{"data":"at once"}}]],"2":[[0],[null,0,1]]}',
      '[1,0,[[{"result":{"data":"quick"}}]]]',
      '[0,0,[[{"result":{"data":"slow"}}]]]',
    ])
  })

  it('may have nested promises and iterables', async () => {
    async function* two(): AsyncGenerator<unknown, string> {
      yield { inner: Promise.resolve('deep') }
      return 'end'
    }
    expect(await linesOf([data(two())])).toEqual([
      '{"0":[[{"result":0}],["result",0,0]]}',
      '[0,0,[[{"data":0}],["data",1,1]]]',
      '[1,1,[[{"inner":0}],["inner",0,2]]]',
      '[2,0,[["deep"]]]',
      '[1,0,[["end"]]]',
    ])
  })

  it('send the error of a promise that rejects and of an iterable that throws', async () => {
    const errors: unknown[] = []
    async function* fails(): AsyncGenerator<number> {
      yield 1
      throw new Error('thrown')
    }
    const lines = await linesOf(
      [data({ rejected: Promise.reject(new Error('rejected')), iterable: fails() })],
      optionsWith(errors),
    )
    expect(lines).toContain('[2,1,{"message":"Error: rejected","index":0}]')
    expect(lines).toContain('[3,2,{"message":"Error: thrown","index":0}]')
    expect(errors.map(String).toSorted()).toEqual(['Error: rejected', 'Error: thrown'])
  })

  it('end an iterable at a value that cannot be serialized', async () => {
    let isEnded = false
    async function* numbers(): AsyncGenerator {
      try {
        yield 1n
        yield 2
      } finally {
        isEnded = true
      }
    }
    const lines = await linesOf([data(numbers())])
    expect(lines.at(-1)).toBe('[1,2,{"message":"TypeError: Do not know how to serialize a BigInt","index":0}]')
    expect(isEnded).toBe(true)
  })

  it('fail only themselves', async () => {
    const errors: unknown[] = []
    const lines = await linesOf([Promise.reject(new Error('not there')), data(1)], optionsWith(errors))
    expect(lines).toEqual([
      '{"0":[[0],[null,0,0]],"1":[[{"result":{"data":1}}]]}',
      '[0,1,{"message":"Error: not there","index":0}]',
    ])
    expect(errors).toHaveLength(1)
  })

  it('await a lazy thenable, such as a query, only once', async () => {
    let executed = 0
    const query = {
      // oxlint-disable-next-line unicorn/no-thenable -- it is what query builders are
      then(resolve: (value: string) => void) {
        executed++
        resolve('rows')
      },
      catch() {
        executed++
      },
    }
    const lines = await linesOf([data({ query })])
    expect(lines.at(-1)).toBe('[2,0,[["rows"]]]')
    expect(executed).toBe(1)
  })

  it('read a getter only once', async () => {
    let asked = 0
    const result = Object.defineProperty({}, 'later', { enumerable: true, get: () => Promise.resolve(++asked) })
    const lines = await linesOf([data(result)])
    expect(lines.at(-1)).toBe('[2,0,[[1]]]')
    expect(asked).toBe(1)
  })

  it.each([() => 1, Symbol('result')])('are null for %s', async (result) => {
    expect((await linesOf([data(result)])).at(-1)).toBe('[1,0,[[null]]]')
  })

  it('may be an error with a pending shape', async () => {
    expect(await linesOf([outcomeOfError(Promise.resolve({ message: 'no' }))])).toEqual([
      '{"0":[[{"error":0}],["error",0,0]]}',
      '[0,0,[[{"message":"no"}]]]',
    ])
  })

  it('may have a promise of a value that throws when it is read', async () => {
    const found = Object.defineProperty({}, 'getter', {
      enumerable: true,
      get() {
        throw new Error('of a getter')
      },
    })
    const lines = await linesOf([data({ found: Promise.resolve(found), other: Promise.resolve(1) })])
    expect(lines.slice(3).toSorted()).toEqual(['[2,1,{"message":"Error: of a getter","index":0}]', '[3,0,[[1]]]'])
  })

  it.each([
    ['ends', () => Promise.resolve({ done: true, value: 'end' })],
    ['throws', () => Promise.reject(new Error('thrown'))],
  ])('call return() of an iterator that %s', async (_, next) => {
    let returned = 0
    const end = (): Promise<IteratorResult<string>> => {
      returned++
      return Promise.resolve({ done: true, value: '' })
    }
    await linesOf([data({ [Symbol.asyncIterator]: () => ({ next, return: end }) })])
    expect(returned).toBe(1)
  })

  it('send pings until they settle', async () => {
    const slow = Promise.withResolvers<Outcome>()
    const lines: Readable = new JsonLines([slow.promise], optionsWith([], { pingMs: 5 }))
    let sent = ''
    for await (const chunk of lines) {
      sent += String(chunk)
      if (sent.endsWith('  ')) slow.resolve(data('slow'))
    }
    expect(sent).toMatch(/^\{"0":\[\[0],\[null,0,0]]\}\n {2,}\[0,0,\[\[\{"result":\{"data":"slow"\}\}]]]\n$/)
  })
})

it('ends iterables when it is destroyed', async () => {
  let isEnded = false
  async function* endless(): AsyncGenerator<string> {
    try {
      for (;;) yield 'x'.repeat(1000)
    } finally {
      isEnded = true
    }
  }
  const lines: Readable = new JsonLines([data(endless())], optionsWith())
  await new Promise((resolve) => lines.once('data', resolve))
  lines.destroy()
  await new Promise((resolve) => lines.once('close', resolve))
  await expect.poll(() => isEnded).toBe(true)
})
