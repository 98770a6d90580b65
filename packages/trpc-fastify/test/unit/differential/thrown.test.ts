import { TRPCError } from '@trpc/server'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { describe, it } from 'vitest'
import { compare, type ComparedRequest, type Mount, titled } from '../../helpers/differential/compare.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'
import { andStreamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, observedWithMeta } from '../../helpers/differential/router.ts'

type Code = keyof typeof TRPC_ERROR_CODES_BY_KEY
const CODES = Object.keys(TRPC_ERROR_CODES_BY_KEY) as Code[]

class OwnError extends Error {
  override readonly name = 'OwnError'
  readonly status = 418
}

/** Makes what is thrown anew for each call. */
const THROWN: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(CODES.map((code) => [code, () => new TRPCError({ code })])),
  unknownCode: () => new TRPCError({ code: 'TEAPOT' as Code, message: 'short and stout' }),
  withMessage: () => new TRPCError({ code: 'CONFLICT', message: 'twice "quoted" ü 👋 \uD800' }),
  withCause: () => new TRPCError({ code: 'CONFLICT', cause: new OwnError('the reason') }),
  withStringCause: () => new TRPCError({ code: 'CONFLICT', cause: 'a string' }),
  withObjectCause: () => new TRPCError({ code: 'CONFLICT', cause: { message: 'object', extra: 1 } }),
  namedTRPCError: () => Object.assign(new Error('of another copy'), { name: 'TRPCError', code: 'FORBIDDEN' }),
  namedTRPCErrorWithoutCode: () => Object.assign(new Error('of another copy'), { name: 'TRPCError' }),
  error: () => new Error('plain'),
  emptyError: () => new Error(),
  typeError: () => new TypeError('of a type'),
  own: () => new OwnError('own'),
  aggregate: () => new AggregateError([new Error('one')], 'several'),
  withoutStack: () => Object.assign(new Error('no stack'), { stack: undefined }),
  nested: () => new Error('outer', { cause: new Error('inner') }),
  string: () => 'a string',
  emptyString: () => '',
  number: () => 42,
  zero: () => 0,
  boolean: () => false,
  bigint: () => 1n,
  null: () => null,
  undefined: () => undefined,
  symbol: () => Symbol('thrown'),
  object: () => ({ a: 1 }),
  objectWithMessage: () => ({ message: 'from an object', code: 'NOT_FOUND' }),
  objectWithName: () => ({ name: 'TRPCError', message: 'not an Error', code: 'NOT_FOUND' }),
  array: () => [1, 2],
  function: () => () => 'thrown',
  date: () => new Date(0),
  regExp: () => /thrown/,
  nullPrototype: () => Object.assign(Object.create(null), { message: 'no prototype' }) as unknown,
}

function mount(recorder: Recorder, isDev: boolean, options: Mount['options']): Mount {
  const t = observedTRPC(recorder, { isDev })
  const named = t.procedure.input((value) => value as keyof typeof THROWN)
  const fail = (name: string): never => {
    throw THROWN[name]!()
  }
  const router = t.router({
    sync: named.query((call) => {
      recorder.seeCall('sync', call)
      return fail(call.input)
    }),
    async: named.query(async (call) => {
      await Promise.resolve()
      return fail(call.input)
    }),
    mutation: named.mutation(async (call) => fail(call.input)),
    middleware: named.use((call) => fail(call.input)).query(() => 'never'),
    asyncMiddleware: named.use(async (call) => fail(call.input)).query(() => 'never'),
    underMiddleware: named
      .use(async (call) => {
        const result = await call.next()
        recorder.see('result', result, call.batchIndex)
        return result
      })
      .query((call) => fail(call.input)),
    afterNext: named
      .use(async (call) => {
        await call.next()
        return fail(call.input)
      })
      .query(() => 'lost'),
    validator: t.procedure.input((value): string => fail(value as string)).query(() => 'never'),
    output: named.output((value): string => fail(value as string)).query((call) => call.input),
    ok: t.procedure.query(() => 'ok'),
  })
  return { router, ...(options ? { options } : {}) }
}

const query = (path: string, name: string): ComparedRequest => ({
  name: `${path} ${name}`,
  url: `/trpc/${path}?input=${encodeURIComponent(JSON.stringify(name))}`,
  on: 'compiled',
})

describe('thrown by', () => {
  const comparison = compare((recorder) => mount(recorder, false, observed(recorder)))
  const places = [
    'sync',
    'async',
    'middleware',
    'asyncMiddleware',
    'underMiddleware',
    'afterNext',
    'validator',
    'output',
  ]
  const names = Object.keys(THROWN)
  const requests = names.flatMap((name, index) => [
    query('sync', name),
    query('underMiddleware', name),
    query(places[index % places.length]!, name),
    {
      on: 'compiled',
      method: 'POST',
      url: '/trpc/mutation',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(name),
      name: `mutation ${name}`,
    } as const,
    {
      name: `batch ${name}`,
      url: `/trpc/sync,async,ok?batch=1&input=${encodeURIComponent(JSON.stringify([name, name]).replace(/^\[(.*),(.*)\]$/, '{"0":$1,"1":$2}'))}`,
      on: 'compiled',
    } as const,
  ])
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('with stack traces and responseMeta, thrown by', () => {
  const comparison = compare((recorder) => mount(recorder, true, observedWithMeta(recorder)), { isDev: true })
  const requests = Object.keys(THROWN).flatMap((name) => [query('afterNext', name)])
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('without onError and createContext, thrown by', () => {
  const comparison = compare((recorder) => mount(recorder, false, {}))
  it.each(
    titled(['NOT_FOUND', 'error', 'string', 'null'].flatMap((name) => [query('sync', name), query('async', name)])),
  )('%s', async (_title, request) => {
    await comparison.request(request)
  })
})
