// oxlint-disable unicorn/no-thenable -- what thenables do is a part of what is tested

import { TRPCError } from '@trpc/server'
import { beforeAll, describe, expect, it } from 'vitest'
import { compare, type ComparedRequest, type Mount, titled } from '../../helpers/differential/compare.ts'
import { BREAKS_STREAMS_OFF } from '../../helpers/differential/known-differences.ts'
import { andStreamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC, seeContext } from '../../helpers/differential/router.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'

type CreateContext = NonNullable<NonNullable<Mount['options']>['createContext']>
type Options = Parameters<CreateContext>[0]

const thrown = (cause: unknown) => (): never => {
  throw cause
}

const CONTEXTS: Readonly<Record<string, (options: Options, recorder: Recorder) => unknown>> = {
  sync: () => ({ user: 'ada' }),
  async: async () => ({ user: 'ada' }),
  later: async () => {
    await new Promise(setImmediate)
    return { user: 'ada' }
  },
  undefined: () => undefined,
  null: () => null,
  number: () => 42,
  string: () => 'text',
  false: () => false,
  array: () => [1],
  function: () => () => 1,
  thenable: () => ({ then: (resolve: (value: object) => void) => resolve({ user: 'thenable' }) }),
  thenNotFunction: () => ({ then: 1 }),
  throwing: thrown(new Error('context')),
  throwingTRPC: thrown(new TRPCError({ code: 'UNAUTHORIZED', message: 'who?' })),
  throwingNamed: thrown(Object.assign(new Error('other copy'), { name: 'TRPCError', code: 'FORBIDDEN' })),
  throwingString: thrown('context'),
  throwingNull: thrown(null),
  throwingUndefined: thrown(undefined),
  throwingObject: thrown({ message: 'object' }),
  rejecting: () => Promise.reject(new Error('context')),
  rejectingTRPC: () => Promise.reject(new TRPCError({ code: 'UNAUTHORIZED', message: 'who?' })),
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- this is what is tested
  rejectingUndefined: () => Promise.reject(undefined),
  readingInputs: async ({ info }, recorder) => {
    const read = (): Promise<unknown> =>
      Promise.all(info.calls.map((call) => call.getRawInput().catch((cause: unknown) => ({ cause }))))
    recorder.see('raw inputs', await read())
    recorder.see('raw inputs again', await read())
    recorder.see(
      'results',
      info.calls.map((call) => call.result()),
    )
    return { user: 'reader' }
  },
  readingInfo: ({ info }, recorder) => {
    recorder.see('info', [
      { ...info },
      JSON.stringify(info),
      info.url === info.url,
      info.url?.searchParams.get('input'),
    ])
    recorder.see(
      'calls',
      info.calls.map((call) => [Object.keys(call), typeof call.procedure, call.batchIndex]),
    )
    return { user: 'reader' }
  },
  changingReply: ({ res }) => {
    res.header('x-context', '1').code(418)
    return {}
  },
  changingInfo: ({ info }) => {
    Object.assign(info, { added: 1 })
    return { info }
  },
}

const INPUT = encodeURIComponent('{"0":{"a":1},"1":2}')
const REQUESTS: readonly ComparedRequest[] = [
  { name: 'a query', url: '/trpc/query?input=1', on: 'compiled' },
  { name: 'a query that reads no input', url: '/trpc/blind?input=1', on: 'compiled' },
  { name: 'a query with other parameters', url: '/trpc/blind?a=b&input=1&c=%20d', on: 'compiled' },
  {
    name: 'a mutation',
    method: 'POST',
    url: '/trpc/mutation',
    headers: { 'content-type': 'application/json' },
    body: '"body"',
    on: 'compiled',
  },
  { name: 'malformed input', url: '/trpc/query?input=%7B', on: 'compiled' },
  { name: 'a failing query', url: '/trpc/failing?input=1', on: 'compiled' },
  { name: 'a batch', url: `/trpc/query,blind?batch=1&input=${INPUT}`, on: 'compiled' },
  { name: 'a mixed batch', url: `/trpc/query,failing?batch=1&input=${INPUT}`, on: 'compiled' },
  { name: 'a batch with malformed input', url: '/trpc/query,query?batch=1&input=%5B1%5D', on: 'compiled' },
  { name: 'no procedure', url: '/trpc/nothing', on: 'procedure' },
]

function mount(recorder: Recorder): Required<Pick<Mount, 'router' | 'options'>> {
  const t = observedTRPC(recorder)
  const input = t.procedure.input((value) => value)
  const seen = (call: { input?: unknown; ctx: unknown }): unknown => {
    recorder.seeCall('resolver', call)
    return [call.input, typeof call.ctx]
  }
  const router = t.router({
    query: input.query(seen),
    blind: t.procedure.query(seen),
    mutation: input.use((call) => call.next({ ctx: { extended: true } })).mutation(seen),
    failing: input.query(() => {
      throw new TRPCError({ code: 'CONFLICT' })
    }),
  })
  return { router, options: observed(recorder) }
}

describe('createContext', () => {
  let create: (typeof CONTEXTS)[string]
  const comparison = compare((recorder) => {
    const createContext = (options: Options): never => {
      seeContext(recorder, options)
      return create(options, recorder) as never
    }
    const { router, options } = mount(recorder)
    return { router, options: { ...options, createContext } }
  })

  describe.each(Object.entries(CONTEXTS))('%s', (_, chosen) => {
    beforeAll(() => {
      create = chosen
    })
    it.each(titled(andStreamed(REQUESTS)))('%s', async (_title, request) => {
      await comparison.request(request)
    })
  })
})

const FAILING: Readonly<Record<string, (path: string | undefined) => unknown>> = {
  throwing: thrown(new Error('onError')),
  throwingTRPC: thrown(new TRPCError({ code: 'FORBIDDEN', message: 'onError' })),
  throwingString: thrown('onError'),
  throwingForCalls: (path) => (path === undefined ? undefined : thrown(new Error('onError'))()),
  throwingForTheRest: (path) => (path === undefined ? thrown(new Error('onError'))() : undefined),
  returning: () => 'ignored',
}

describe('onError', () => {
  let fail: (typeof FAILING)[string]
  const comparison = compare((recorder) => {
    const { router, options } = mount(recorder)
    const onError = (error: { path: string | undefined }): unknown => {
      recorder.see('onError', error)
      return fail(error.path)
    }
    return { router, options: { ...options, onError } as NonNullable<Mount['options']> }
  })
  const more: ComparedRequest[] = [
    {
      name: 'a batch whose first call fails',
      url: `/trpc/failing,query,failing?batch=1&input=${INPUT}`,
      on: 'compiled',
    },
  ]

  describe.each(Object.entries(FAILING))('%s', (name, chosen) => {
    beforeAll(() => {
      fail = chosen
    })
    const requests = [...REQUESTS, ...more]
    const isBrokenOff = BREAKS_STREAMS_OFF.onError.includes(name)
    it.each(titled(isBrokenOff ? requests : andStreamed(requests)))('%s', async (_title, request) => {
      await comparison.request(request)
    })
  })
})

describe('the comparison itself', () => {
  const comparison = compare((recorder) => mount(recorder))
  it('returns the official response', async () => {
    const { status, body } = await comparison.request(REQUESTS[0]!)
    expect([status, body]).toEqual([200, '{"result":{"data":[1,"object"]}}'])
  })
})
