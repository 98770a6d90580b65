import { os } from '@orpc/server'
import { RPCHandler } from '@orpc/server/fastify'
import Fastify from 'fastify'
import { z } from 'zod'
import { closeOnSignal } from '@examples/close-on-signal'
import { article, greeting } from './content.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const name = z.object({ name: z.string().min(1).max(100) })

/** Allows GET, as for queries of tRPC. */
const query = os.route({ method: 'GET' })

const handler = new RPCHandler({
  hello: query.handler(() => ({ hello: 'world' })),
  greet: query.input(name).handler(({ input }) => greeting(input.name)),
  greetChecked: query
    .input(name)
    .output(z.object({ text: z.string(), length: z.number() }))
    .handler(({ input }) => greeting(input.name)),
  article: query.handler(() => article),
  note: os.input(name).handler(({ input }) => greeting(input.name)),
})

// Requests that arrive while the server closes get a response; by default Fastify rejects them with 503.
const app = Fastify({ return503OnClosing: false })

// oRPC parses other content types itself, see its documentation.
app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))

app.all('/trpc/*', async (request, reply) => {
  const { matched } = await handler.handle(request, reply, { prefix: '/trpc', context: {} })
  if (!matched) reply.callNotFound()
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
