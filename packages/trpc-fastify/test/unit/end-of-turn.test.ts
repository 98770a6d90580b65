import { AsyncLocalStorage } from 'node:async_hooks'
import { initTRPC } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import { trpcPlugin } from 'trpc-fastify'
import { expect, it } from 'vitest'

const t = initTRPC.create()

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

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

const askBoth = async (app: FastifyInstance, path: string): Promise<void> => {
  const ask = (name: string) => app.inject({ url: `/trpc/${path}`, headers: { 'x-user': name } })
  await Promise.all([ask('Ada'), ask('Grace')])
}

it.each(['query', 'asynchronous', 'query,asynchronous?batch=1'])(
  'answers of one turn are sent when all of its requests have made their calls, if the turn before had several: %s',
  async (path) => {
    const events: string[] = []
    const app = await serve(events)
    await app.ready()
    await askBoth(app, path)
    await nextTurn()
    events.length = 0
    await askBoth(app, path)
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

it('an answer is sent at once where the turn before had one alone', async () => {
  const events: string[] = []
  const app = await serve(events)
  await app.ready()
  await app.inject('/trpc/query')
  await nextTurn()
  events.length = 0
  await askBoth(app, 'query')
  expect(events).toEqual(['Ada called', 'Ada answered', 'Grace called', 'Grace answered'])
})

it.each(['query', 'asynchronous'])('an answer that cannot be written is an error of Fastify: %s', async (path) => {
  const app = await serve([])
  app.addHook('onSend', (_request, reply, _payload, done) => (reply.header('x-broken', 'two\nlines'), done()))
  await app.ready()
  const error = [500, expect.objectContaining({ code: 'ERR_INVALID_CHAR' })]
  // At once, and at the end of a turn.
  for (let times = 0; times < 2; times++) {
    const answers = await Promise.all([1, 2].map(() => app.inject(`/trpc/${path}`)))
    expect(answers.map((answer) => [answer.statusCode, answer.json()])).toEqual([error, error])
    await nextTurn()
  }
})
