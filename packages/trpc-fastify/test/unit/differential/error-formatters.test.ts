import { TRPCError } from '@trpc/server'
import { beforeAll, describe, it } from 'vitest'
import { compare, type ComparedRequest, titled } from '../../helpers/differential/compare.ts'
import { BREAKS_STREAMS_OFF } from '../../helpers/differential/known-differences.ts'
import { andStreamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, observedWithMeta } from '../../helpers/differential/router.ts'

type Formatter = (options: {
  shape: { message: string; code: number; data: object }
  error: Error
  path?: string | undefined
}) => unknown

const thrown = (cause: unknown) => (): never => {
  throw cause
}

const FORMATTERS: Readonly<Record<string, Formatter>> = {
  same: ({ shape }) => shape,
  added: ({ shape, error }) => ({
    ...shape,
    added: 1,
    data: { ...shape.data, cause: error.cause instanceof Error && error.cause.message },
  }),
  status: ({ shape }) => ({ ...shape, data: { ...shape.data, httpStatus: 418 } }),
  statusOK: ({ shape }) => ({ ...shape, data: { httpStatus: 200 } }),
  status204: ({ shape }) => ({ ...shape, data: { httpStatus: 204 } }),
  status99: ({ shape }) => ({ ...shape, data: { httpStatus: 99 } }),
  status200Point5: ({ shape }) => ({ ...shape, data: { httpStatus: 200.5 } }),
  statusNaN: ({ shape }) => ({ ...shape, data: { httpStatus: Number.NaN } }),
  statusText: ({ shape }) => ({ ...shape, data: { httpStatus: '418' } }),
  withoutData: ({ shape: { message, code } }) => ({ message, code }),
  dataNull: ({ shape }) => ({ ...shape, data: null }),
  dataArray: ({ shape }) => ({ ...shape, data: [1] }),
  otherCode: ({ shape: { message } }) => ({ message, code: -32_004 }),
  unknownCode: () => ({ code: 1 }),
  empty: () => ({}),
  undefined: () => undefined,
  null: () => null,
  string: () => 'text',
  number: () => 42,
  array: () => [1, 2],
  promise: ({ shape }) => Promise.resolve(shape),
  bigint: ({ shape }) => ({ ...shape, data: { big: 1n } }),
  toJSON: ({ shape }) => ({ ...shape, toJSON: () => 'a text' }),
  mutating: ({ shape }) => Object.assign(shape, { message: 'mutated' }),
  throwing: thrown(new Error('formatter')),
  throwingTRPC: thrown(new TRPCError({ code: 'CONFLICT', message: 'formatter' })),
  throwingForCalls: ({ path, shape }) => (path === undefined ? shape : thrown(new Error('formatter'))()),
  undefinedForCalls: ({ path, shape }) => (path === undefined ? shape : undefined),
}

const REQUESTS: readonly ComparedRequest[] = [
  { name: 'a failing query', url: '/trpc/failing?input=1', on: 'compiled' },
  {
    name: 'a failing mutation',
    method: 'POST',
    url: '/trpc/mutation',
    headers: { 'content-type': 'application/json' },
    body: '1',
    on: 'compiled',
  },
  { name: 'a malformed input', url: '/trpc/failing?input={', on: 'compiled' },
  { name: 'a batch', url: '/trpc/ok,failing,failing?batch=1&input={"1":2}', on: 'compiled' },
  { name: 'a result that cannot be sent', url: '/trpc/bigint', on: 'compiled' },
  { name: 'no procedure', url: '/trpc/unknown', on: 'procedure' },
]

const requestsFor = (formatter: string): readonly ComparedRequest[] =>
  BREAKS_STREAMS_OFF.formatters.includes(formatter) ? REQUESTS : andStreamed(REQUESTS)

describe('errorFormatter', () => {
  let formatter: Formatter
  const comparison = compare((recorder) => {
    const t = observedTRPC(recorder, {
      errorFormatter(options) {
        recorder.see('errorFormatter', { keys: Object.keys(options).toSorted(), ...options })
        return formatter(options) as never
      },
    })
    const input = t.procedure.input((value) => value)
    const fail = thrown(new TRPCError({ code: 'NOT_FOUND', cause: new Error('the cause') }))
    const router = t.router({
      ok: t.procedure.query(() => 'ok'),
      bigint: t.procedure.query(() => 1n),
      failing: input.query(fail),
      mutation: input.use((call) => call.next()).mutation(fail),
    })
    return { router, options: observedWithMeta(recorder) }
  })

  describe.each(Object.entries(FORMATTERS))('%s', (name, chosen) => {
    beforeAll(() => {
      formatter = chosen
    })
    it.each(titled(requestsFor(name)))('%s', async (_title, request) => {
      await comparison.request(request)
    })
  })
})

describe('.errors()', () => {
  let formatter: Formatter
  const comparison = compare((recorder) => {
    const t = observedTRPC(recorder)
    const errors = (name: string) => (options: Parameters<Formatter>[0]) => {
      recorder.see(name, { keys: Object.keys(options).toSorted(), ...options })
      return formatter(options) as never
    }
    const fail = (): never => {
      throw new TRPCError({ code: 'NOT_FOUND', cause: new Error('the cause') })
    }
    const input = t.procedure.input((value) => value)
    const router = t.router({
      ok: t.procedure.errors(errors('ok')).query(() => 'ok'),
      bigint: t.procedure.errors(errors('bigint')).query(() => 1n),
      failing: input.errors(errors('failing')).query(fail),
      mutation: input
        .errors(errors('outer'))
        .use((call) => call.next({ ctx: { added: 1 } }))
        .errors(errors('inner'))
        .mutation(fail),
    })
    return { router, options: observed(recorder) }
  })

  describe.each(Object.entries(FORMATTERS))('%s', (name, chosen) => {
    beforeAll(() => {
      formatter = chosen
    })
    it.each(titled(requestsFor(name)))('%s', async (_title, request) => {
      await comparison.request(request)
    })
  })
})
