import { TRPCError } from '@trpc/server'
import { beforeAll, describe, it } from 'vitest'
import { compare, type ComparedRequest, type Surroundings, titled } from '../../helpers/differential/compare.ts'
import { FOUND_AFTER_THE_SHAPES } from '../../helpers/differential/known-differences.ts'
import { streamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC } from '../../helpers/differential/router.ts'

type Meta = (options: { errors: readonly unknown[]; data: readonly unknown[] }) => unknown

const thrown = (cause: unknown) => (): never => {
  throw cause
}
const cookies = (): Headers => {
  const headers = new Headers({ 'x-one': '1' })
  headers.append('set-cookie', 'a=1')
  headers.append('set-cookie', 'b=2; Path=/')
  headers.append('x-two', 'a')
  headers.append('x-two', 'b')
  return headers
}

const METAS: Readonly<Record<string, Meta>> = {
  empty: () => ({}),
  undefined: () => undefined,
  null: () => null,
  string: () => 'text',
  promise: () => Promise.resolve({ status: 418 }),
  ...Object.fromEntries(
    [0, 99, 101, 199, 200.5, 202, 204, 205, 206, 304, 418, 500, 599, 600, 700, -1, 65_736, Number.NaN].map((status) => [
      `status ${status}`,
      () => ({ status }),
    ]),
  ),
  statusString: () => ({ status: '404' }),
  statusText: () => ({ status: 'teapot' }),
  statusNull: () => ({ status: null }),
  object: () => ({ headers: { 'cache-control': 'max-age=1', 'X-Upper': 'Case' } }),
  objectOverriding: () => ({ headers: { 'content-type': 'application/problem+json', vary: 'origin' } }),
  objectContentType: () => ({ headers: { 'Content-Type': 'text/plain' } }),
  arrays: () => ({ headers: { 'x-list': ['a', 'b'], vary: ['origin'], 'set-cookie': ['a=1', 'b=2'] } }),
  oddValues: () => ({
    headers: {
      'x-number': 1,
      'x-undefined': undefined,
      'x-null': null,
      'x-empty': '',
      'x-none': [],
      'x-numbers': [1, 2],
    },
  }),
  sameNameTwice: () => ({ headers: { 'X-Twice': '1', 'x-twice': '2' } }),
  unsorted: () => ({ headers: { 'x-z': 'z', b: 'b', 'x-a': 'a' } }),
  prototypeNames: () => ({
    headers: Object.fromEntries(['constructor', '__proto__', 'toString'].map((name) => [name, '1'])),
  }),
  oddNames: () => ({ headers: { 7: 'seven', 'x-8': 'eight', x_9: 'nine', '-': 'dash' } }),
  paddedValues: () => ({ headers: { 'x-padded': ' a ', 'x-tab': 'a\tb', 'x-spaces': 'a  b' } }),
  addingEachTime: ({ errors }) => ({ headers: { [`x-with-${errors.length === 0 ? 'no' : 'an'}-error`]: '1' } }),
  latin: () => ({ headers: { 'x-latin': 'caf\u00E9' } }),
  headers: () => ({ headers: cookies() }),
  headersOverriding: () => ({ headers: new Headers({ 'content-type': 'text/plain', vary: 'origin' }) }),
  headersAndStatus: () => ({ headers: cookies(), status: 202 }),
  invalidName: () => ({ headers: { 'not a name': '1' } }),
  invalidValue: () => ({ headers: { 'x-value': 'a\nb' } }),
  invalidAfterValid: () => ({ headers: { 'x-valid': '1', 'x-invalid': '\u{1F44B}' } }),
  headersString: () => ({ headers: 'x: y' }),
  headersMap: () => ({ headers: new Map([['x-map', '1']]) }),
  connection: () => ({ headers: { connection: 'close' } }),
  keepAlive: () => ({ headers: { 'keep-alive': 'timeout=5' } }),
  throwing: thrown(new Error('meta')),
  throwingTRPC: thrown(new TRPCError({ code: 'FORBIDDEN', message: 'meta' })),
  throwingString: thrown('meta'),
  throwingAtFirst: ({ errors }) =>
    errors.length === 0 ? thrown(new Error('meta'))() : { headers: { 'x-second': '1' } },
  badStatusAtFirst: ({ errors }) => ({
    status: errors.length === 0 ? 204 : 418,
    headers: { 'x-count': [String(errors.length)], 'set-cookie': ['a=1'] },
  }),
  badHeaderAtFirst: ({ errors }) => ({
    headers: errors.length === 0 ? { 'x-first': '1', 'bad name': '2' } : { 'x-second': '2' },
  }),
  okOnly: ({ errors }) => (errors.length === 0 ? { headers: { 'cache-control': 'max-age=60' } } : {}),
  appending: () => ({ headers: new Headers({ 'x-appended': '1' }) }),
  mutatingData: ({ data }) => {
    for (const one of data as Record<string, unknown>[]) if ('result' in one) one['result'] = { data: 'mutated' }
    return {}
  },
  addingToData: ({ data }) => {
    for (const one of data as Record<string, unknown>[]) one['added'] = 1
    return {}
  },
  mutatingErrors: ({ errors }) => {
    for (const error of errors as { message: string }[]) error.message = 'mutated'
    return {}
  },
}

const INPUT = encodeURIComponent('{"0":1}')
const REQUESTS: readonly ComparedRequest[] = [
  { name: 'a result', url: '/trpc/ok', on: 'compiled' },
  { name: 'an error', url: '/trpc/failing', on: 'compiled' },
  { name: 'a result that cannot be sent', url: '/trpc/bigint', on: 'compiled' },
  { name: 'a stream', url: '/trpc/stream', on: 'compiled' },
  {
    name: 'a mutation',
    method: 'POST',
    url: '/trpc/mutation',
    headers: { 'content-type': 'application/json' },
    body: '1',
    on: 'compiled',
  },
  { name: 'a batch', url: `/trpc/ok,ok?batch=1&input=${INPUT}`, on: 'compiled' },
  { name: 'a mixed batch', url: `/trpc/ok,failing,stream?batch=1&input=${INPUT}`, on: 'compiled' },
  { name: 'a batch that cannot be sent', url: `/trpc/ok,bigint?batch=1&input=${INPUT}`, on: 'compiled' },
  { name: 'no procedure', url: '/trpc/nothing', on: 'procedure' },
  {
    name: 'wrong method',
    method: 'POST',
    url: '/trpc/ok',
    headers: { 'content-type': 'application/json' },
    body: '1',
    on: 'method',
  },
]

/** Those that can be compared when their batches are streamed. */
const streamedFor = (meta: string): readonly ComparedRequest[] =>
  streamed(
    REQUESTS.filter(({ name }) => {
      if (name === 'a batch that cannot be sent') return false
      return name !== 'a mixed batch' || !FOUND_AFTER_THE_SHAPES.includes(meta)
    }),
  )

// A response that ends its connection would end that of `inject` too, hence no keep-alive to compare.
const SURROUNDINGS: Surroundings = {
  before: (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('x-before', '1').header('set-cookie', 'before=1').header('vary', 'before')
    })
  },
}

describe('responseMeta', () => {
  let meta: Meta
  const comparison = compare((recorder) => {
    const t = observedTRPC(recorder)
    const router = t.router({
      ok: t.procedure.query(() => 'ok'),
      mutation: t.procedure.mutation(async () => 'ok'),
      failing: t.procedure.query(() => {
        throw new TRPCError({ code: 'NOT_FOUND' })
      }),
      bigint: t.procedure.query(() => 1n),
      stream: t.procedure.query(async function* stream() {
        yield 1
      }),
    })
    const responseMeta = (options: Parameters<Meta>[0]): never => {
      recorder.see('responseMeta', options)
      return meta(options) as never
    }
    return { router, options: { ...observed(recorder), responseMeta } }
  }, SURROUNDINGS)

  describe.each(Object.entries(METAS))('%s', (name, chosen) => {
    beforeAll(() => {
      meta = chosen
    })
    it.each(titled([...REQUESTS, ...streamedFor(name)]))('%s', async (_title, request) => {
      await comparison.request(request)
    })
  })
})
