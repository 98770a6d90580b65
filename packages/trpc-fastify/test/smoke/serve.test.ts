import { createTRPCClient, httpBatchStreamLink, httpSubscriptionLink, splitLink } from '@trpc/client'
import { initTRPC } from '@trpc/server'
import { EventSource } from 'eventsource'
import { expect, it, onTestFinished } from 'vitest'
import { createTrpcFastify } from '../../src/index.ts'

const t = initTRPC.create()
const router = t.router({
  hello: t.procedure.query(() => ({ hello: 'world' })),
  count: t.procedure.subscription(async function* () {
    for (const number of [1, 2, 3]) yield number
  }),
})

it('serves queries, streamed batches and subscriptions to tRPC’s own client', async () => {
  const app = await createTrpcFastify({ prefix: '/trpc', router })
  onTestFinished(() => app.close())
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/trpc`
  const client = createTRPCClient<typeof router>({
    links: [
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: httpSubscriptionLink({ url, EventSource }),
        false: httpBatchStreamLink({ url }),
      }),
    ],
  })
  expect(await Promise.all([client.hello.query(), client.hello.query()])).toEqual([
    { hello: 'world' },
    { hello: 'world' },
  ])
  const numbers: number[] = []
  await new Promise<void>((resolve, reject) => {
    client.count.subscribe(undefined, {
      onData: (number) => numbers.push(number),
      onError: reject,
      onComplete: resolve,
    })
  })
  expect(numbers).toEqual([1, 2, 3])
})
