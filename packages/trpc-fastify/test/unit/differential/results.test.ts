// oxlint-disable unicorn/no-thenable -- what thenables do is a part of what is tested

import { describe, it } from 'vitest'
import { compare, type ComparedRequest, titled } from '../../helpers/differential/compare.ts'
import { BREAKS_STREAMS_OFF, STREAMED_AS_NULL } from '../../helpers/differential/known-differences.ts'
import { streamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, observedWithMeta } from '../../helpers/differential/router.ts'

class Point {
  readonly x = 1
  readonly #hidden = 2
  get sum(): number {
    return this.x + this.#hidden
  }
  toJSON(): string {
    return `point ${this.x}`
  }
}

async function* generated(): AsyncGenerator<number> {
  yield 1
}

function circular(): object {
  const value: Record<string, unknown> = { a: 1 }
  value['self'] = value
  return value
}

/** Makes the result anew for each call. */
const RESULTS: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  false: () => false,
  zero: () => 0,
  negativeZero: () => -0,
  nan: () => Number.NaN,
  infinity: () => Infinity,
  emptyString: () => '',
  unicode: () => 'ünï 日本 👋 \u2028 \u0000 </script>',
  loneSurrogate: () => 'a\uD800b',
  long: () => 'é'.repeat(100_000),
  bigint: () => 1n,
  bigintInside: () => ({ a: [1n] }),
  symbol: () => Symbol('result'),
  function: () => () => 'called',
  functionInside: () => ({ f: () => 1, g: 2 }),
  functionWithThen: () => Object.assign(() => 1, { then: 1 }),
  date: () => new Date(0),
  invalidDate: () => new Date(Number.NaN),
  map: () => new Map([[1, 2]]),
  set: () => new Set([1]),
  regExp: () => /a/g,
  error: () => new Error('returned'),
  buffer: () => Buffer.from('abc'),
  bytes: () => new Uint8Array([1, 2]),
  boxed: () => [Object('a'), Object(1)] as unknown[],
  point: () => new Point(),
  nullPrototype: () => Object.assign(Object.create(null), { a: 1 }) as unknown,
  proto: () => JSON.parse('{"__proto__":{"a":1}}') as unknown,
  undefinedInside: () => ({ a: undefined, b: [undefined] }),
  circular,
  throwingGetter: () => ({
    get a(): never {
      throw new Error('getter')
    },
  }),
  throwingToJSON: () => ({
    toJSON(): never {
      throw new Error('toJSON')
    },
  }),
  toJSONThrowingString: () => ({
    toJSON(): never {
      // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- this is what is tested
      throw 'a string'
    },
  }),
  toJSONUndefined: () => ({ toJSON: () => undefined }),
  promise: async () => 'awaited',
  promiseOfPromise: async () => Promise.resolve(Promise.resolve('awaited')),
  rejected: () => Promise.reject(new Error('rejected')),
  thenable: () => ({
    then(resolve: (value: string) => void) {
      resolve('thenable')
    },
  }),
  thenableRejecting: () => ({
    then(_resolve: unknown, reject: (cause: unknown) => void) {
      reject('thenable')
    },
  }),
  thenableThrowing: () => ({
    then(): never {
      throw new Error('then')
    },
  }),
  thenNotFunction: () => ({ then: 'later' }),
  promiseInside: () => ({ later: Promise.resolve(1) }),
  promiseInArray: () => [Promise.resolve(1)],
  promiseDeeper: () => ({ a: { later: Promise.resolve(1) } }),
  thenableInside: () => ({ later: { then: () => 1, catch: () => 2 } }),
  thenFunctionInside: () => ({ later: Object.assign(() => 1, { then: () => 1, catch: () => 2 }) }),
  asyncIterable: () => generated(),
  asyncIterableInside: () => ({ items: generated() }),
  asyncIterableInArray: () => [generated()],
  arrayWithAsyncIterator: () => Object.assign([1], { [Symbol.asyncIterator]: generated }),
  stream: () => new ReadableStream(),
  iterator: () => [1, 2].values(),
  array: () => [1, [2], { a: 3 }],
  array0: () => [],
  object0: () => ({}),
  resultLike: () => ({ result: { data: 1 } }),
  errorLike: () => ({ error: { code: 1, message: 'not one' } }),
  response: () => new Response('body'),
}

const names = Object.keys(RESULTS)
const inputOf = (...parts: readonly string[]): string =>
  encodeURIComponent(JSON.stringify(Object.fromEntries(parts.entries())))
const single = (path: string, name: string): ComparedRequest => ({
  name: `${path} ${name}`,
  url: `/trpc/${path}?input=${encodeURIComponent(JSON.stringify(name))}`,
  on: 'compiled',
})
const requests = names.flatMap((name, index): ComparedRequest[] => [
  single('plain', name),
  single('throughMiddleware', name),
  { name: `batch of one ${name}`, url: `/trpc/plain?batch=1&input=${inputOf(name)}`, on: 'compiled' },
  {
    name: `batch ${name}`,
    url: `/trpc/plain,throughMiddleware,plain?batch=1&input=${inputOf('array', name, names[(index + 1) % names.length]!)}`,
    on: 'compiled',
  },
])

/** What can be compared in a streamed batch too; the others never end. */
const NOT_STREAMED = [
  ...BREAKS_STREAMS_OFF.results,
  ...STREAMED_AS_NULL,
  'thenableInside',
  'thenFunctionInside',
  'stream',
]
requests.push(...streamed(requests).filter(({ url }) => !NOT_STREAMED.some((name) => url.includes(`%22${name}%22`))))

describe.each([
  ['alone', observed],
  ['with responseMeta', observedWithMeta],
])('results, %s', (_, options) => {
  const comparison = compare((recorder) => {
    const t = observedTRPC(recorder)
    const named = t.procedure.input((value) => value as string)
    const router = t.router({
      plain: named.query((call) => RESULTS[call.input]!()),
      throughMiddleware: named.use(async (call) => call.next()).query((call) => RESULTS[call.input]!()),
    })
    return { router, options: options(recorder) }
  })
  it.each(titled(options === observed ? requests : requests.filter((_request, index) => index % 3 === 0)))(
    '%s',
    async (_title, request) => {
      await comparison.request(request)
    },
  )
})
