// Results that only a streamed answer can carry: that come later, or hold what does.
// oxlint-disable unicorn/no-thenable -- what thenables do is a part of what is tested

import { Readable } from 'node:stream'
import { TRPCError } from '@trpc/server'
import { observable } from '@trpc/server/observable'
import superjson, { deserialize as fromSuperjson, serialize as toSuperjson } from 'superjson'
import { describe, it } from 'vitest'
import {
  compare,
  type ComparedRequest,
  type Mount,
  type Surroundings,
  titled,
} from '../../helpers/differential/compare.ts'
import { generated, iterable, later, rejectedLater, someTurns } from '../../helpers/differential/later.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'
import { JSON_TYPE, STREAM } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, observedWithMeta } from '../../helpers/differential/router.ts'

/** Notes something that happens to a result. */
type See = (what: string, value?: unknown) => void

const refuse = (message = 'refused'): TRPCError => new TRPCError({ code: 'CONFLICT', message })
const thrown = (cause: unknown) => (): never => {
  throw cause
}

/** Where nobody can know of a promise before it is rejected. */
function hiddenRejection(): Promise<never> {
  const promise = rejectedLater(refuse())
  promise.catch(() => {})
  return promise
}

async function* returning(end: unknown, ...values: readonly unknown[]): AsyncGenerator {
  yield* generated(...values)
  return end
}

async function* failing(cause: unknown, ...values: readonly unknown[]): AsyncGenerator {
  yield* generated(...values)
  throw cause
}

/** What query builders are: the work is done at `then()`, each time. */
const lazyPromise = (see: See, cause?: unknown): object => ({
  then(resolve: (value: string) => void, reject: (cause: unknown) => void) {
    see('executed')
    if (cause === undefined) resolve('executed')
    else reject(cause)
  },
  catch(this: { then(resolve: () => void, reject: unknown): unknown }, reject: unknown) {
    return this.then(() => undefined, reject)
  },
})

class Holder {
  readonly promise = Promise.resolve('held')
}

const PROMISES: Readonly<Record<string, (see: See) => unknown>> = {
  promise: () => ({ now: 1, soon: Promise.resolve({ two: 2 }) }),
  promiseLater: () => ({ now: 1, soon: later([1, null]) }),
  promises: () => ({ slow: later('slow'), now: Promise.resolve('now'), none: later(undefined), nothing: later(null) }),
  promisesOfKinds: () => ({ zero: later(0), no: later(false), empty: later(''), list: later([]), object: later({}) }),
  promiseOfFunction: () => ({ soon: Promise.resolve(() => 1), symbol: later(Symbol('later')) }),
  promiseOfDate: () => ({ soon: later(new Date(0)) }),
  promiseOfPromise: () => ({ soon: Promise.resolve(later('flat')) }),
  promiseInPromise: () => ({ one: later({ two: later({ three: later('deep') }) }) }),
  promiseInArray: () => [Promise.resolve(1)],
  promiseInArrayOfPromise: () => ({ list: later([Promise.resolve(1)]) }),
  promiseTooDeep: () => ({ a: { b: Promise.resolve(1) } }),
  promiseInClass: () => new Holder(),
  promiseInMap: () => ({ map: later(new Map([['a', Promise.resolve(1)]])) }),
  promiseAtOddKeys: () => ({ '': later(1), 0: later(2), 'a.b': later(3), constructor: undefined, toString: later(4) }),
  promiseAtProto: () => JSON.parse('{"__proto__":1,"a":2}', (key, value: unknown) => (key === 'a' ? later(2) : value)),
  promiseWithoutPrototype: () => Object.assign(Object.create(null), { soon: later(1) }) as unknown,
  promiseAtThen: () => ({ then: later('a value') }),
  promiseBesideUndefined: () => ({ none: undefined, soon: later(1), function: () => 1 }),
  promiseFromGetter: (see) => ({
    get soon() {
      see('got')
      return later('from a getter')
    },
  }),
  promiseRejectedFromGetter: () => ({
    get soon() {
      return Promise.reject(refuse())
    },
  }),
  getterThrowing: () => ({
    get soon(): never {
      throw new Error('getter')
    },
  }),
  getterThrowingLater: () => ({
    soon: later({
      get inner(): never {
        throw refuse()
      },
    }),
    other: later('comes'),
  }),
  rejected: () => ({ soon: Promise.reject(new Error('at once')) }),
  rejectedTRPC: () => ({ soon: Promise.reject(refuse()), now: 1 }),
  rejectedLater: () => ({ soon: rejectedLater(refuse()), other: later('comes') }),
  rejectedWithString: () => ({ soon: rejectedLater('a string') }),
  rejectedWithUndefined: () => ({ soon: rejectedLater(undefined) }),
  rejectedWithCause: () => ({ soon: rejectedLater(new Error('outer', { cause: refuse('inner') })) }),
  rejectedInPromise: () => ({ one: later({ two: hiddenRejection(), three: later(3) }) }),
  rejectedAll: () => ({ one: Promise.reject(refuse('one')), two: rejectedLater(refuse('two')), three: later(3) }),
  rejectedInArray: () => [Promise.reject(refuse()).catch(() => 'caught')],
  promiseOfResult: async () => ({ soon: later('asynchronous') }),
  thenable: () => ({ soon: { then: (resolve: (value: string) => void) => resolve('then'), catch: () => {} } }),
  thenableLazy: (see) => ({ soon: lazyPromise(see) }),
  thenableLazyRejected: (see) => ({ soon: lazyPromise(see, refuse()), other: 1 }),
  thenableThrowing: () => ({ soon: { then: thrown(refuse()), catch: () => {} } }),
  thenableFunction: () => ({
    soon: Object.assign(() => 1, { then: (resolve: (value: number) => void) => resolve(1), catch: () => {} }),
  }),
  thenableWithoutCatch: () => ({ soon: { then: (resolve: (value: string) => void) => resolve('never asked') } }),
}

const ITERABLES: Readonly<Record<string, (see: See) => unknown>> = {
  empty: () => generated(),
  values: () => generated(1, 'two', null, undefined, [3], { four: 4 }),
  valuesLater: async function* () {
    for (const value of [1, 2, 3]) yield later(value)
  },
  many: () => generated(...Array.from({ length: 50 }, (_, index) => ({ index }))),
  large: () => generated('x'.repeat(70_000), 'é'.repeat(70_000), 'end'),
  returned: () => returning('the end', 1),
  returnedUndefined: () => returning(undefined, 1),
  returnedPromise: () => returning({ soon: later('after the end') }, 1),
  returnedIterable: () => returning({ more: generated(1, 2) }, 0),
  yieldingPromises: () => generated({ soon: later(1) }, { soon: hiddenRejection() }, { now: 3 }),
  yieldingIterables: () => generated({ inner: generated(1, { deepest: generated(2) }) }, generated(3)),
  yieldingFunctions: () => generated(() => 1, Symbol('yielded')),
  yieldingDates: () => generated(new Date(0), new Map([[1, 2]])),
  throwing: () => failing(new Error('at once')),
  throwingTRPC: () => failing(refuse(), 1, 2),
  throwingString: () => failing('a string', 1),
  throwingUndefined: () => failing(undefined, 1),
  throwingLater: async function* () {
    yield 1
    await someTurns()
    throw refuse()
  },
  throwingInYielded: () => generated(1, { inner: failing(refuse(), 2) }, 3),
  getterThrowing: () =>
    generated(1, {
      get a(): never {
        throw new Error('getter')
      },
    }),
  finally: async function* (see) {
    try {
      yield 1
    } finally {
      await someTurns()
      see('finally')
    }
  },
  inObject: () => ({ now: 1, items: generated(1, 2), others: generated(3) }),
  inObjectThrowing: () => ({ items: failing(refuse(), 1), others: generated(2), soon: later(3) }),
  inPromise: () => ({ soon: later(generated(1, 2)) }),
  inPromiseInObject: () => ({ soon: later({ items: generated(1) }) }),
  inArray: () => [generated(1)],
  ofAsynchronousResult: async () => generated(1, 2),
  readable: () => Readable.from([1, 'two', { three: 3 }]),
  readableInObject: () => ({ stream: Readable.from(['a', 'b']) }),
  readableStream: () => ReadableStream.from([1, 2, 3]),
  synchronous: () => [1, 2].values(),
  synchronousInObject: () => ({ items: new Set([1]).values() }),
  arrayWithAsyncIterator: () => Object.assign([1], { [Symbol.asyncIterator]: () => generated(2) }),
  iterator() {
    let count = 0
    return iterable(async () => (++count > 2 ? { done: true, value: 'end' } : { done: false, value: count }))
  },
  iteratorOfPlainResults() {
    let count = 0
    return iterable(() => ({ done: ++count > 2, value: count }))
  },
  iteratorWithoutValues() {
    let count = 0
    return iterable(async () => (++count > 2 ? { done: true } : {}))
  },
  iteratorWithReturn(see) {
    let count = 0
    return iterable(async () => ({ done: ++count > 2, value: count }), {
      async return(...values: unknown[]) {
        see('return', values)
        return { done: true, value: 'ignored' }
      },
    })
  },
  iteratorThrowingWithReturn: (see) => iterable(thrown(refuse()), { return: async () => see('return') }),
  iteratorRejectingWithReturn: (see) => iterable(() => rejectedLater(refuse()), { return: () => see('return') }),
  iteratorOfNothing: () => iterable(async () => ({ done: true, value: undefined })),
}

const OBSERVABLES: Readonly<Record<string, (see: See) => unknown>> = {
  completed: (see) =>
    observable((observer) => {
      for (const value of [1, { two: 2 }, undefined]) observer.next(value)
      observer.complete()
      return () => see('torn down')
    }),
  completedLater: (see) =>
    observable((observer) => {
      observer.next(1)
      setImmediate(() => {
        observer.next(2)
        observer.complete()
      })
      return () => see('torn down')
    }),
  failed: (see) =>
    observable((observer) => {
      observer.next(1)
      observer.error(refuse())
      return () => see('torn down')
    }),
  failedLater: (see) =>
    observable((observer) => {
      setImmediate(() => observer.error(new Error('later')))
      return () => see('torn down')
    }),
  ofPromises: () =>
    observable((observer) => {
      observer.next({ soon: later(1), refused: hiddenRejection() })
      observer.complete()
    }),
  throwing: () => observable(thrown(refuse())),
  ofAsynchronousResult: async () =>
    observable((observer) => {
      observer.next('asynchronous')
      observer.complete()
    }),
  inObject: () => ({ inner: observable((observer) => observer.complete()) }),
  onlyNamedSo: () => ({ subscribe: true, plan: 'monthly' }),
}

const ERRORS: Readonly<Record<string, (see: See) => unknown>> = {
  error: thrown(new Error('thrown')),
  refused: thrown(refuse()),
  refusedLater: () => rejectedLater(refuse()),
  string: thrown('a string'),
  rejected: () => Promise.reject(refuse()),
}

const PLAIN: Readonly<Record<string, (see: See) => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  text: () => 'ünï 日本 👋 \u2028\n',
  undefinedLater: () => later(undefined),
  objectLater: () => later({ a: [1, null, undefined] }),
  function: () => () => 1,
  functionLater: () => later(() => 1),
  symbol: () => Symbol('result'),
  date: () => new Date(0),
  map: () => new Map([[1, new Set([2])]]),
  resultLike: () => ({ result: { data: 1 } }),
  errorLike: () => ({ error: { code: 1 }, data: 0 }),
  placeholderLike: () => [[0], [null, 0, 0]],
}

const GROUPS = { promises: PROMISES, iterables: ITERABLES, observables: OBSERVABLES, errors: ERRORS, plain: PLAIN }
const RESULTS: Readonly<Record<string, (see: See) => unknown>> = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([group, results]) =>
    Object.entries(results).map(([name, make]) => [`${group}.${name}`, make]),
  ),
)

type Config = Parameters<typeof observedTRPC>[1]

function resultsMount(recorder: Recorder, options: NonNullable<Mount['options']>, config: Config): Mount {
  const t = observedTRPC(recorder, config)
  const named = t.procedure.input((value) => value as string)
  const make = ({ input, batchIndex }: { input: string; batchIndex?: number }): unknown =>
    RESULTS[input]!((what, value) => recorder.see(what, value, batchIndex))
  const router = t.router({
    plain: named.query(make),
    middleware: named
      .use(async (call) => {
        const result = await call.next()
        recorder.see('passed', result.ok, call.batchIndex)
        return result
      })
      .query(make),
    mutation: named.mutation(async (call) => make(call)),
    slow: t.procedure.query(() => later('slow')),
    ok: t.procedure.query(() => 'ok'),
    failing: t.procedure.query(thrown(refuse('beside it'))),
  })
  return { router, options }
}

const NAMES = Object.keys(RESULTS)

/** Asks for each result alone, beside others of each kind, and from mutations. */
function requestsWith(serialize: (input: string) => unknown = (input) => input): ComparedRequest[] {
  const inputs = (...names: readonly string[]): string =>
    JSON.stringify(Object.fromEntries(names.map((name, index) => [index, serialize(name)])))
  const query = (path: string, ...names: readonly string[]): ComparedRequest => ({
    name: `${path}: ${names.join(', ')}`,
    url: `/trpc/${path}?batch=1&input=${encodeURIComponent(inputs(...names))}`,
    headers: STREAM,
    on: 'compiled',
  })
  return NAMES.flatMap((name, index): ComparedRequest[] => {
    const [next, another] = [1, 7].map((step) => NAMES[(index + step) % NAMES.length]!) as [string, string]
    return [
      query('plain', name),
      query('middleware,slow,plain,failing', name, '', another),
      {
        name: `mutations: ${name}, ${next}`,
        method: 'POST',
        url: '/trpc/mutation,mutation?batch=1',
        headers: { ...STREAM, ...JSON_TYPE },
        body: inputs(name, next),
        on: 'compiled',
      },
    ]
  })
}

interface Setting {
  readonly options?: typeof observed
  readonly config?: Config
  readonly surroundings?: Surroundings
  readonly serialize?: (input: string) => unknown
  /** Names of results that the transformer refuses. */
  readonly refused?: RegExp
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  'with responseMeta': { options: observedWithMeta },
  'with stack traces': { config: { isDev: true }, surroundings: { isDev: true } },
  'with superjson': {
    config: { transformer: superjson },
    surroundings: { deserialize: (line) => fromSuperjson(line as never) },
    serialize: toSuperjson,
    // They could pollute prototypes.
    refused: /promiseAtProto|promiseAtOddKeys/,
  },
}

describe('pending results', () => {
  const comparison = compare((recorder) => resultsMount(recorder, observed(recorder), {}))
  it.each(titled(requestsWith()))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe.each(Object.entries(SETTINGS))('pending results, %s', (_, { options = observed, ...setting }) => {
  const { config = {}, surroundings, serialize, refused } = setting
  const comparison = compare((recorder) => resultsMount(recorder, options(recorder), config), surroundings)
  const requests = requestsWith(serialize).filter(({ name }, index) => index % 3 === 1 && !refused?.test(name!))
  it.each(titled(requests))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})
