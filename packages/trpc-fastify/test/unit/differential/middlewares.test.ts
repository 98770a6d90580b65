import { experimental_standaloneMiddleware, TRPCError } from '@trpc/server'
import { describe, it } from 'vitest'
import * as z from 'zod'
import { compare, type ComparedRequest, type Path, titled } from '../../helpers/differential/compare.ts'
import { andStreamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, observedWithMeta } from '../../helpers/differential/router.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'

type Result = never

/** What middlewares may return that is no result of `next()`. */
const RETURNED: Readonly<Record<string, unknown>> = {
  undefined,
  null: null,
  false: false,
  zero: 0,
  string: 'a string',
  array: [],
  empty: {},
  okAlone: { ok: true },
  okData: { ok: true, data: 'own' },
  okPromise: { ok: true, data: Promise.resolve('later') },
  okMarked: { ok: true, data: { own: 1 }, marker: 'middlewareMarker', ctx: {} },
  notOk: { ok: false },
  notOkError: { ok: false, error: new Error('own error') },
  notOkTRPC: { ok: false, error: new TRPCError({ code: 'FORBIDDEN', message: 'own' }) },
  notOkString: { ok: false, error: 'a string' },
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- tRPC names no type for it
function routerOf(recorder: Recorder) {
  const t = observedTRPC(recorder)
  const noted = (name: string) =>
    t.middleware(async (call) => {
      recorder.seeCall(`${name} before`, call)
      const result = await call.next()
      recorder.see(`${name} after`, result, call.batchIndex)
      return result
    })
  const base = t.procedure.use((call) => {
    recorder.seeCall('middleware', call)
    return call.next()
  })
  const input = t.procedure.input((value) => value)
  const resolved = (call: object): unknown => {
    recorder.seeCall('resolver', call)
    const { input: given, ctx } = call as { input: unknown; ctx: { user: string } }
    return { given, user: ctx.user, keys: Object.keys(ctx) }
  }
  const returning = Object.fromEntries(
    Object.entries(RETURNED).flatMap(([name, value]) => [
      [name, t.procedure.use(async () => value as Result).query(resolved)],
      [`${name}Sync`, t.procedure.use((() => value) as never).query(resolved)],
      [
        `${name}Output`,
        t.procedure
          .output((data: unknown) => data)
          .use(async () => value as Result)
          .query(resolved),
      ],
      [
        `${name}Under`,
        t.procedure
          .use(noted('outer'))
          .use(async () => value as Result)
          .query(resolved),
      ],
      [
        `${name}Errors`,
        t.procedure
          .errors(() => undefined)
          .use(async () => value as Result)
          .query(resolved),
      ],
    ]),
  )
  const standalone = experimental_standaloneMiddleware<{ ctx: { user: string }; input: unknown }>().create((call) =>
    call.next({ ctx: { standalone: call.ctx.user } }),
  )
  const authed = t.procedure
    .input(z.object({ a: z.number() }).partial())
    .use((call) => call.next({ ctx: { role: 'admin' } }))
  const other = t.procedure
    .input(z.object({ b: z.number() }).partial())
    .use(noted('concatenated'))
    .meta({ concatenated: true })
  return t.router({
    plain: base.query(resolved),
    mutation: base.input((value) => value).mutation(resolved),
    three: base.use(noted('one')).use(noted('two')).query(resolved),
    context: base
      .use((call) => call.next({ ctx: { user: 'grace', added: 1 } }))
      .use(noted('after'))
      .query(resolved),
    contextTwice: base
      .use((call) => call.next({ ctx: { added: 1 } }))
      .use((call) => call.next({ ctx: { added: 2, more: true } }))
      .query(resolved),
    contextUndefined: base.use((call) => call.next({ ctx: undefined })).query(resolved),
    contextArray: base.use((call) => call.next({ ctx: ['zero'] as never })).query(resolved),
    contextString: base.use((call) => call.next({ ctx: 'ab' as never })).query(resolved),
    inputReplaced: base.use((call) => call.next({ input: { replaced: true } })).query(resolved),
    inputUndefined: input.use((call) => call.next({ input: undefined })).query(resolved),
    inputReplacedThenParsed: base
      .use((call) => call.next({ input: { replaced: true } }))
      .input((value) => value)
      .query(resolved),
    rawReplaced: base
      .use((call) => call.next({ getRawInput: async () => ({ raw: 'replaced' }) } as never))
      .use(noted('after'))
      .input((value) => value)
      .query(resolved),
    rawReplacedSync: base
      .use((call) => call.next({ getRawInput: () => 'sync' } as never))
      .input((value) => value)
      .query(resolved),
    rawRejecting: base
      .use((call) => call.next({ getRawInput: () => Promise.reject(new Error('raw')) } as never))
      .input((value) => value)
      .query(resolved),
    rawThrowing: base
      .use((call) =>
        call.next({
          getRawInput: () => {
            throw new Error('raw')
          },
        } as never),
      )
      .input((value) => value)
      .query(resolved),
    rawRead: base
      .use(async (call) => {
        recorder.see('raw', await call.getRawInput(), call.batchIndex)
        recorder.see('raw again', (await call.getRawInput()) === (await call.getRawInput()), call.batchIndex)
        return call.next()
      })
      .input((value) => value)
      .query(resolved),
    rawReadByResolver: t.procedure.query(async (call) =>
      (call as unknown as { getRawInput(): Promise<unknown> }).getRawInput(),
    ),
    nextTwice: base.use(async (call) => (await call.next(), call.next())).query(resolved),
    nextTogether: base.use(async (call) => (await Promise.all([call.next(), call.next()]))[0]).query(resolved),
    nextNull: base.use((call) => call.next(null as never)).query(resolved),
    nextString: base.use((call) => call.next('text' as never)).query(resolved),
    nextNumber: base.use((call) => call.next(1 as never)).query(resolved),
    notAwaited: base
      .use(async (call) => {
        void call.next()
        return { ok: true, data: 'early', marker: 'middlewareMarker' } as unknown as Result
      })
      .query(() => 'late'),
    swallowing: base
      .use(async (call) => {
        const result = await call.next()
        return result.ok ? result : { ...result, ok: true, data: 'swallowed' }
      })
      .query(() => {
        throw new Error('swallow me')
      }),
    replacingError: base
      .use(async (call) => {
        const result = await call.next()
        if (result.ok) return result
        throw new TRPCError({ code: 'CONFLICT', message: 'instead', cause: result.error })
      })
      .query(() => {
        throw new Error('replace me')
      }),
    changingData: base
      .use(async (call) => {
        const result = await call.next()
        return result.ok ? { ...result, data: { changed: result.data } } : result
      })
      .output((data: unknown): unknown => ({ parsed: data }))
      .query(resolved),
    mutatingResult: base.use(async (call) => Object.assign(await call.next(), { data: 'assigned' })).query(resolved),
    signal: t.procedure
      .use((call) => {
        recorder.see('signal', [call.signal, call.signal === (call as { signal: unknown }).signal], call.batchIndex)
        return call.next()
      })
      .query((call) => ({ aborted: call.signal?.aborted })),
    spread: base
      .use((call) => {
        const { next, ...rest } = { ...call }
        recorder.see('spread', Object.keys(rest).toSorted(), call.batchIndex)
        return next()
      })
      .query((call) => Object.keys({ ...call }).toSorted()),
    assigned: base
      .use((call) => {
        Object.assign(call, { ctx: { user: 'mutated' }, input: 'mutated' })
        return call.next()
      })
      .query(resolved),
    contextMutated: base
      .use((call) => {
        Object.assign(call.ctx, { user: 'mutated' })
        return call.next()
      })
      .query(resolved),
    resolverCallsNext: base.query(async (call) => (call as unknown as { next(): Promise<unknown> }).next()),
    plainResolverCallsNext: t.procedure.query(async (call) => (call as unknown as { next(): Promise<unknown> }).next()),
    self: t.procedure
      .use(function named(this: unknown, call) {
        recorder.see('this', this, call.batchIndex)
        return call.next()
      })
      .query(function named(this: unknown) {
        return { self: this }
      }),
    plainSelf: t.procedure.query(function named(this: unknown) {
      return { self: this }
    }),
    piped: t.procedure
      .use(noted('first').unstable_pipe((call) => call.next({ ctx: { piped: call.ctx.user } })))
      .query(resolved),
    standalone: t.procedure.use(standalone).query(resolved),
    concatenated: authed.concat(other).query(resolved),
    concatenatedUnstable: authed.unstable_concat(other).query(resolved),
    meta: t.procedure.meta({ one: 1 }).use(noted('meta')).meta({ two: 2 }).query(resolved),
    metaAlone: t.procedure.meta({ one: 1 }).query(resolved),
    called: t.procedure
      .experimental_caller(async ({ args, invoke }) => {
        const [options] = args as [never]
        return { called: await invoke(options) }
      })
      .query(resolved) as never,
    calledFailing: t.procedure.experimental_caller(() => Promise.reject(new Error('caller'))).query(resolved) as never,
    ok: t.procedure.query(() => 'ok'),
    returning: t.router(
      returning as Record<string, typeof t.procedure extends never ? never : ReturnType<typeof base.query>>,
    ),
  })
}

type Router = ReturnType<typeof routerOf>
const INPUT = encodeURIComponent('{"a":1,"b":2}')
const BATCH_INPUT = encodeURIComponent('{"0":{"a":1},"1":{"b":2},"2":{"a":3}}')

function requestsFor(path: string): ComparedRequest[] {
  const isCalled = path.startsWith('called')
  const on: Path = isCalled ? 'uncompiled' : 'compiled'
  return [
    { url: `/trpc/${path}`, on },
    { url: `/trpc/${path}?input=${INPUT}`, on },
    { url: `/trpc/${path}?input=%7B`, on },
    { url: `/trpc/ok,${path},${path}?batch=1&input=${BATCH_INPUT}`, on },
  ]
}

function pathsOf(router: Router): string[] {
  return Object.keys(router._def.procedures).filter((path) => path !== 'mutation')
}

// The names do not depend on the recorder.
const paths = pathsOf(routerOf({ see() {}, seeCall() {} } as unknown as Recorder))

describe('middlewares', () => {
  const comparison = compare((recorder) => ({ router: routerOf(recorder), options: observed(recorder) }))
  const mutation = {
    method: 'POST',
    url: '/trpc/mutation',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  } as const
  it.each(titled(andStreamed([...paths.flatMap(requestsFor), { ...mutation, on: 'compiled' }])))(
    '%s',
    async (_title, request) => {
      await comparison.request(request)
    },
  )
})

describe('middlewares with responseMeta and no context', () => {
  const comparison = compare((recorder) => {
    const { createContext, ...options } = observedWithMeta(recorder)
    return { router: routerOf(recorder), options: createContext ? options : {} }
  })
  it.each(titled(paths.map((path) => requestsFor(path)[1]!)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})
