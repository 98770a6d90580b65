import { AsyncLocalStorage } from 'node:async_hooks'
import { initTRPC } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import { trpcPlugin } from 'trpc-fastify'
import { expect, it } from 'vitest'

const t = initTRPC.create()

/** A router whose calls, and answers as an `onSend` hook sees them, are written down. */
async function serve(events: string[]): Promise<FastifyInstance> {
  const app = Fastify()
  const user = new AsyncLocalStorage<string>()
  app.addHook('onRequest', (request, _reply, done) => user.run(String(request.headers['x-user']), done))
  app.addHook('onSend', async () => void events.push(`${user.getStore()} answered`))
  const call = (): void => void events.push(`${user.getStore()} called`)
  const router = t.router({
    query: t.procedure.query(call),
    asynchronous: t.procedure.query(async () => call()),
  })
  await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions: { router } })
  return app
}

it.each(['query', 'asynchronous', 'query,asynchronous?batch=1'])(
  'answers of one turn are sent when all of its requests have made their calls: %s',
  async (path) => {
    const events: string[] = []
    const app = await serve(events)
    const ask = (name: string) => app.inject({ url: `/trpc/${path}`, headers: { 'x-user': name } })
    await app.ready()
    await Promise.all([ask('Ada'), ask('Grace')])
    const calls = path.split(',').length
    // Each hook finds the request that it is called for.
    expect(events).toEqual([
      ...Array<string>(calls).fill('Ada called'),
      ...Array<string>(calls).fill('Grace called'),
      'Ada answered',
      'Grace answered',
    ])
  },
)

it.each(['query', 'asynchronous'])('an answer that cannot be written is an error of Fastify: %s', async (path) => {
  const app = await serve([])
  app.addHook('onSend', (_request, reply, _payload, done) => (reply.header('x-broken', 'two\nlines'), done()))
  const answer = await app.inject(`/trpc/${path}`)
  expect([answer.statusCode, answer.json()]).toEqual([500, expect.objectContaining({ code: 'ERR_INVALID_CHAR' })])
})
