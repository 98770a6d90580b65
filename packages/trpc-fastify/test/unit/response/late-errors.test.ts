// Errors that nobody reads of: the client is gone, or `responseMeta` has failed the whole answer.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import { trpcPlugin } from 'trpc-fastify'
import { afterEach, expect, it } from 'vitest'
import { type BothServers, serveBoth } from '../../helpers/both-servers.ts'

const t = initTRPC.create({ isDev: false })

async function* failsInTheEnd({ signal }: { signal?: AbortSignal | undefined }): AsyncGenerator<number> {
  try {
    yield 1
    await once(signal!, 'abort')
  } finally {
    // oxlint-disable-next-line no-unsafe-finally -- it is what people write by mistake
    throw new Error('in the end')
  }
}

const router = t.router({
  hello: t.procedure.query(() => 'hello'),
  fails: t.procedure.query(() => {
    throw new Error('immediately')
  }),
  failsLater: t.procedure.query(async () => {
    await sleep(5)
    throw new Error('later')
  }),
  holdsPromise: t.procedure.query(() => ({
    promise: sleep(60).then(() => {
      throw new Error('in a promise')
    }),
  })),
  iterable: t.procedure.query(failsInTheEnd),
  subscription: t.procedure.subscription(failsInTheEnd),
})

let both: BothServers | undefined
afterEach(async () => {
  await both?.close()
  both = undefined
})

const serve = (responseMeta?: () => never): Promise<BothServers> =>
  serveBoth<typeof router>((journal) => ({
    trpcOptions: {
      router,
      ...(responseMeta ? { responseMeta } : {}),
      onError: ({ path, error }) => journal.add(`${error.message} at ${path}`),
    },
  }))

it.each([
  ['a promise of a result', 'holdsPromise?batch=1', 'in a promise at undefined'],
  ['an iterable', 'iterable?batch=1', 'in the end at undefined'],
  ['a subscription', 'subscription', 'in the end at subscription'],
])('calls onError for %s that fails after the client disconnected', async (_, path, expected) => {
  both = await serve()
  await both.onBoth(async ({ url, journal }) => {
    const controller = new AbortController()
    const headers: Record<string, string> = path.includes('batch') ? { 'trpc-accept': 'application/jsonl' } : {}
    const { body } = await fetch(`${url}/${path}`, { signal: controller.signal, headers })
    await body!.getReader().read()
    controller.abort()
    await journal.until(expected)
    return journal.entries
  })
})

it('calls onError for failed calls after a responseMeta that throws', async () => {
  both = await serve(() => {
    throw new Error('meta')
  })
  const told = await both.onBoth(async ({ url, journal }) => {
    const headers = { 'trpc-accept': 'application/jsonl' }
    const { status } = await fetch(`${url}/hello,failsLater?batch=1`, { headers })
    await journal.until('later at failsLater')
    return { status, told: journal.entries }
  })
  expect(told).toEqual({ status: 500, told: ['meta at undefined', 'later at failsLater'] })
})

it.each([
  ['without hooks', 'fails,hello'],
  ['without hooks, beside a pending call', 'fails,failsLater'],
  ['with an onSend hook', 'fails,hello'],
])('sends a 500 of one length if onError throws in a streamed batch, %s', async (title, paths) => {
  const app = Fastify()
  if (title.includes('onSend')) app.addHook('onSend', async () => {})
  const onError = (): never => {
    throw new Error('onError')
  }
  await app.register(trpcPlugin<typeof router>, { prefix: '/trpc', trpcOptions: { router, onError } })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  // `fetch` rejects a response with both a length and chunks.
  const response = await fetch(`${url}/trpc/${paths}?batch=1`, { headers: { 'trpc-accept': 'application/jsonl' } })
  const { status, headers } = response
  expect([status, headers.get('transfer-encoding'), await response.json()]).toEqual([
    500,
    null,
    { statusCode: 500, error: 'Internal Server Error', message: 'onError' },
  ])
  await app.close()
})
