import { AsyncLocalStorage } from 'node:async_hooks'
import { on } from 'node:events'
import { connect, type Socket } from 'node:net'
import { initTRPC, TRPCError } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import { trpcPlugin } from 'trpc-fastify'
import { openApiPlugin, type OpenApiMeta } from 'trpc-fastify/openapi'
import { expect, it, onTestFinished } from 'vitest'

const t = initTRPC.meta<OpenApiMeta>().create()
const at = (path: `/${string}`) => t.procedure.meta({ openapi: { method: 'GET', path } })

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A router whose calls, and answers as an `onSend` hook sees them, are written down. */
async function serve(events: string[] = []): Promise<FastifyInstance> {
  const app = Fastify()
  const user = new AsyncLocalStorage<string>()
  app.addHook('onRequest', (request, _reply, done) => user.run(String(request.headers['x-user']), done))
  app.addHook('onSend', (_request, _reply, _payload, done) => (events.push(`${user.getStore()} answered`), done()))
  const call = (): void => void events.push(`${user.getStore()} called`)
  const router = t.router({
    query: at('/query').query(call),
    asynchronous: at('/asynchronous').query(async () => call()),
    refused: at('/refused').query(() => {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'Not for you' })
    }),
    slow: t.procedure.query(() => {
      call()
      for (const until = performance.now() + 2; performance.now() < until;);
    }),
  })
  await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions: { router } })
  await app.register(openApiPlugin, { prefix: '/rest', trpcOptions: { router } })
  return app
}

/** Two requests of one turn; it ends before this does. */
async function askBoth(app: FastifyInstance, path: string): Promise<string[]> {
  const ask = (name: string) => app.inject({ url: path, headers: { 'x-user': name } })
  const answers = await Promise.all([ask('Ada'), ask('Grace')])
  await nextTurn()
  return answers.map(({ statusCode, body }) => `${statusCode} ${body}`)
}

/** What happens to two requests in each of a hundred turns: the first ones are slow, as their code is new. */
async function eventsOfTurns(path: string): Promise<string[][]> {
  const events: string[] = []
  const app = await serve(events)
  await app.ready()
  const turns: string[][] = []
  for (let turn = 0; turn < 100; turn++) {
    await askBoth(app, path)
    turns.push(events.splice(0))
  }
  return turns
}

it.each(['/trpc/query', '/trpc/asynchronous', '/trpc/query,asynchronous?batch=1', '/rest/query', '/rest/asynchronous'])(
  'sends the responses of a tick together at its end, if the tick before had several: %s',
  async (path) => {
    const calls = path.split(',').length
    // Each hook finds the request that it is called for.
    expect(await eventsOfTurns(path)).toContainEqual([
      ...Array<string>(calls).fill('Ada called'),
      ...Array<string>(calls).fill('Grace called'),
      'Ada answered',
      'Grace answered',
    ])
  },
)

/** Sends a request for each name, all at once on one connection, and waits for their answers. */
async function askInARow(client: Socket, names: readonly string[]): Promise<void> {
  client.write(names.map((name) => `GET /trpc/query HTTP/1.1\r\nhost: it\r\nx-user: ${name}\r\n\r\n`).join(''))
  let answered = ''
  for await (const [chunk] of on(client, 'data')) {
    answered += String(chunk)
    if (answered.split('HTTP/1.1 200 ').length > names.length) return
  }
}

it('sends a pipelined response immediately', async () => {
  const events: string[] = []
  const app = await serve(events)
  onTestFinished(() => app.close())
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const [one, other] = [connect(Number(port), '127.0.0.1'), connect(Number(port), '127.0.0.1')]
  onTestFinished(() => void [one.destroy(), other.destroy()])
  const turns: string[][] = []
  for (let turn = 0; turn < 100; turn++) {
    await Promise.all([askInARow(one, ['Ada', 'Bob']), askInARow(other, ['Grace', 'Hal'])])
    turns.push(events.splice(0))
  }
  expect(turns).toContainEqual([
    ...['Ada called', 'Bob called', 'Bob answered'],
    ...['Grace called', 'Hal called', 'Hal answered'],
    ...['Ada answered', 'Grace answered'],
  ])
})

const ONE_BY_ONE = ['Ada called', 'Ada answered', 'Grace called', 'Grace answered']

it('sends a response immediately if the tick before had only one', async () => {
  const events: string[] = []
  const app = await serve(events)
  await app.ready()
  for (let turn = 0; turn < 20; turn++) {
    await app.inject('/trpc/query')
    await nextTurn()
    events.length = 0
    await askBoth(app, '/trpc/query')
    expect(events).toEqual(ONE_BY_ONE)
    await nextTurn()
  }
})

it('sends responses immediately if procedures block the event loop', async () => {
  // What the first turn does is told by another test's.
  const [, ...turns] = await eventsOfTurns('/trpc/slow')
  for (const events of turns) expect(events).toEqual(ONE_BY_ONE)
})

it.each(['/trpc/query', '/trpc/asynchronous', '/rest/query', '/rest/asynchronous'])(
  'lets Fastify respond to a response that cannot be written: %s',
  async (path) => {
    const app = await serve()
    app.addHook('onSend', (_request, reply, _payload, done) => (reply.header('x-broken', 'two\nlines'), done()))
    await app.ready()
    const error = expect.stringMatching(/^500 .*ERR_INVALID_CHAR/)
    // At once, and at the end of a turn.
    for (let turn = 0; turn < 100; turn++) expect(await askBoth(app, path)).toEqual([error, error])
  },
)

it('sends errors of REST routes, also at the end of a tick', async () => {
  const app = await serve()
  await app.ready()
  const error = '403 {"statusCode":403,"code":"FORBIDDEN","error":"Forbidden","message":"Not for you"}'
  for (let turn = 0; turn < 100; turn++) expect(await askBoth(app, '/rest/refused')).toEqual([error, error])
})
