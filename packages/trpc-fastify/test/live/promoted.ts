// Prints how many bytes each request of a kind leaves in the old generation, while no code is optimised. To be run
// with --no-opt --no-maglev.

import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { getHeapSpaceStatistics } from 'node:v8'
import { initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import { trpcPlugin } from '../../src/index.ts'

const REQUESTS = 3000

const t = initTRPC.context<{ user?: string }>().create()
const router = t.router({
  hello: t.procedure.query(() => ({ hello: 'world' })),
  later: t.procedure.query(async () => ({ hello: 'later' })),
  write: t.procedure.input((value: unknown) => value).mutation(({ input }) => input),
  guarded: t.procedure.use(({ next }) => next({ ctx: { user: 'guest' } })).query(({ ctx }) => ctx.user),
})

const app = Fastify()
app.get('/plain', async () => ({ hello: 'world' }))
await app.register(trpcPlugin<typeof router>, { prefix: '/trpc', trpcOptions: { router } })
await app.register(trpcPlugin<typeof router>, {
  prefix: '/full',
  trpcOptions: {
    router,
    createContext: ({ info }) => ({ user: info.accept ?? 'anybody' }),
    responseMeta: () => ({ headers: { 'cache-control': 'no-store' } }),
    onError: () => {},
  },
})

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

const kinds = {
  plain: get('/plain'),
  query: get('/trpc/hello'),
  'asynchronous query': get('/trpc/later'),
  'query of a middleware': get('/trpc/guarded'),
  mutation: post('/trpc/write', '"text"'),
  batch: get('/trpc/hello,later,guarded?batch=1'),
  'query with all options': get('/full/hello'),
}

await app.listen({ port: 0, host: '127.0.0.1' })
const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
await once(socket, 'connect')
let isAnswered = (): void => {}
socket.on('data', () => isAnswered())
// One closure for all of them: an HTTP client would leave more behind than the server.
const answered = (): Promise<void> => new Promise((resolve) => (isAnswered = resolve))

async function ask(request: string, times: number): Promise<void> {
  for (let count = 0; count < times; count++) {
    const answer = answered()
    socket.write(request)
    await answer
  }
}

function oldGeneration(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')
  return space!.space_used_size
}

/** Bytes per request, by kind. */
export type Promoted = Record<keyof typeof kinds, number>

const promoted: Partial<Promoted> = {}
for (const [kind, request] of Object.entries(kinds)) {
  // What is compiled and kept for good comes with the first requests.
  await ask(request, 300)
  const before = oldGeneration()
  await ask(request, REQUESTS)
  promoted[kind as keyof Promoted] = (oldGeneration() - before) / REQUESTS
}
console.log(JSON.stringify(promoted))
socket.destroy()
await app.close()
