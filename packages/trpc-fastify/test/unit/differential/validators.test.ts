import * as v from 'valibot'
import { describe, it } from 'vitest'
import * as z from 'zod'
import { compare, type ComparedRequest, titled } from '../../helpers/differential/compare.ts'
import { andStreamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, observedWithMeta } from '../../helpers/differential/router.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'

type Check = (value: unknown) => unknown

function atLeastThree(value: unknown): unknown {
  if (typeof value === 'string' && value.length < 3) throw new Error('too short')
  return value
}

/** Makes each kind of validator anew: some remember that they were asynchronous once. */
const VALIDATORS: Readonly<Record<string, () => unknown>> = {
  zodString: () => z.string().min(3),
  zodObject: () => z.object({ a: z.string(), b: z.number().default(1) }),
  zodStrict: () => z.strictObject({ a: z.string() }),
  zodLoose: () => z.looseObject({ a: z.string() }),
  zodUnion: () => z.union([z.string(), z.object({ a: z.string() })]),
  zodDiscriminated: () =>
    z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]),
  zodArray: () => z.array(z.number()),
  zodOptional: () => z.string().optional(),
  zodNullish: () => z.string().nullish(),
  zodCoerced: () => z.coerce.string(),
  zodVoid: () => z.void(),
  zodAny: () => z.unknown(),
  zodNever: () => z.never(),
  zodCatch: () => z.string().catch('caught'),
  zodPreprocessed: () => z.preprocess((value) => value ?? 'preprocessed', z.unknown()),
  zodTransform: () => z.unknown().transform((value) => ({ transformed: value })),
  zodThrowingTransform: () =>
    z.unknown().transform((): string => {
      throw new Error('transform')
    }),
  zodRefined: () => z.string().refine((value) => value.length > 2, 'refined'),
  zodAsyncRefined: () => z.string().refine(async (value) => value.length > 2, 'refined later'),
  zodAsyncTransform: () => z.unknown().transform(async (value) => ({ later: value })),
  zodAsyncIssue: () => z.unknown().transform(async (_value, context) => context.addIssue('found later')),
  zodSometimesAsync: () =>
    z.unknown().transform((value): unknown => (typeof value === 'string' ? Promise.resolve(value) : value)),
  valibotObject: () => v.object({ a: v.string() }),
  valibotAsync: () =>
    v.pipeAsync(
      v.string(),
      v.checkAsync(async (value) => value.length > 2, 'async'),
    ),
  valibotParser: () => v.parser(v.string()),
  function: () => atLeastThree,
  functionUndefined: () => () => undefined,
  functionPromise: () => (value: unknown) => Promise.resolve(value),
  asyncFunction: () => async (value: unknown) => atLeastThree(value),
  throwingString: () => () => {
    // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- this is what is tested
    throw 'a string'
  },
  throwingUndefined: () => () => {
    // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- this is what is tested
    throw undefined
  },
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- this is what is tested
  rejectingNull: () => () => Promise.reject(null),
  withParse: () => ({ parse: atLeastThree }),
  withParseAsync: () => ({ parseAsync: async (value: unknown) => atLeastThree(value) }),
  withBoth: () => ({ parse: atLeastThree, parseAsync: async (value: unknown) => ({ async: value }) }),
  withBothThrowingIssues: () => ({
    parse() {
      throw Object.assign(new Error('issues'), { issues: [] })
    },
    parseAsync: async () => 'never',
  }),
  withValidateSync: () => ({ validateSync: atLeastThree }),
  withCreate: () => ({ create: atLeastThree }),
  withAssert: () => ({ assert: atLeastThree }),
  functionWithAssert: () => Object.assign(() => 'called', { assert: atLeastThree }),
  usingThis: () => ({
    least: 3,
    parse(this: { least: number }, value: unknown) {
      if (String(value).length < this.least) throw new Error('too short for this')
      return value
    },
  }),
  standardSchema: () => ({
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => (value === undefined ? { issues: [{ message: 'missing' }] } : { value }),
    },
  }),
}

const VALUES: readonly string[] = ['', '"ab"', '"abc"', '{"a":"abc"}', '{"a":1,"c":2}', 'null', '[1,2]', '{"kind":"a"}']

function routerOf(recorder: Recorder): ReturnType<ReturnType<typeof observedTRPC>['router']> {
  const t = observedTRPC(recorder)
  const resolved = (call: { input: unknown }): unknown => {
    recorder.seeCall('resolver', call)
    return call.input
  }
  const asInput = Object.entries(VALIDATORS).map(
    ([name, make]) => [name, t.procedure.input(make() as Check).query(resolved)] as const,
  )
  const asOutput = Object.entries(VALIDATORS).map(
    ([name, make]) =>
      [
        name,
        t.procedure
          .input((value) => value)
          .output(make() as Check)
          .query(resolved),
      ] as const,
  )
  const withMiddleware = Object.entries(VALIDATORS).map(([name, make]) => {
    const procedure = t.procedure
      .input(make() as Check)
      .use((call) => {
        recorder.seeCall('middleware', call)
        return call.next()
      })
      .output(make() as Check)
      .query(resolved)
    return [name, procedure] as const
  })
  const a = z.object({ a: z.string() })
  const b = z.object({ b: z.number().optional() })
  return t.router({
    input: t.router(Object.fromEntries(asInput)),
    output: t.router(Object.fromEntries(asOutput)),
    both: t.router(Object.fromEntries(withMiddleware)),
    chained: t.router({
      objects: t.procedure.input(a).input(b).query(resolved),
      three: t.procedure
        .input(a)
        .input(b)
        .input(z.object({ kind: z.string().default('k') }))
        .query(resolved),
      overlapping: t.procedure
        .input(a)
        .input(z.object({ a: z.string().transform((text) => text.length) }) as never)
        .query(resolved),
      objectThenFunction: t.procedure
        .input(a)
        .input(((value: unknown) => value) as never)
        .query(resolved),
      functionThenObject: t.procedure
        .input((value) => value as object)
        .input(a as never)
        .query(resolved),
      strings: t.procedure
        .input((value) => `${String(value)}1`)
        .input(((value: unknown) => `${String(value)}2`) as never)
        .query(resolved),
      asynchronous: t.procedure
        .input(a.refine(async () => true))
        .input(b.refine(async () => true) as never)
        .query(resolved),
      withMiddleware: t.procedure
        .input(a)
        .use((call) => {
          recorder.seeCall('between', call)
          return call.next()
        })
        .input(b)
        .query(resolved),
      arrayThenObject: t.procedure
        .input((value) => [value] as unknown)
        .input(((value: unknown) => ({ value })) as never)
        .query(resolved),
    }),
  })
}

const names = Object.keys(VALIDATORS)
const withValue = (path: string, value: string): ComparedRequest => ({
  name: `${path} ${value}`,
  url: `/trpc/${path}?input=${encodeURIComponent(value)}`,
  on: 'compiled',
})
const batch = (name: string): ComparedRequest => ({
  url: `/trpc/input.${name},output.${name},both.${name}?batch=1&input=${encodeURIComponent('{"0":"abc","1":"ab","2":{"a":"abc"}}')}`,
  on: 'compiled',
})

describe('validators', () => {
  const comparison = compare((recorder) => ({ router: routerOf(recorder), options: observed(recorder) }))
  const chained = [
    'objects',
    'three',
    'overlapping',
    'objectThenFunction',
    'functionThenObject',
    'strings',
    'asynchronous',
    'withMiddleware',
    'arrayThenObject',
  ]
  const requests = [
    ...names.flatMap((name) => VALUES.map((value) => withValue(`input.${name}`, value))),
    ...names.flatMap((name) => VALUES.slice(1, 4).map((value) => withValue(`output.${name}`, value))),
    ...names.map(batch),
    ...chained.flatMap((name) =>
      ['', '{"a":"abc"}', '{"a":"x","b":2}', '{"a":"x","b":"y"}', 'null'].map((value) =>
        withValue(`chained.${name}`, value),
      ),
    ),
  ]
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('validators with middlewares and responseMeta', () => {
  const comparison = compare((recorder) => ({ router: routerOf(recorder), options: observedWithMeta(recorder) }))
  it.each(titled(names.flatMap((name) => VALUES.slice(1, 3).map((value) => withValue(`both.${name}`, value)))))(
    '%s',
    async (_title, request) => {
      await comparison.request(request)
    },
  )
})
