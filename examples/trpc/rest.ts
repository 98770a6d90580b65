import Fastify from 'fastify'
import { openApiPlugin } from 'trpc-fastify/openapi'
import { closeOnSignal } from '@examples/close-on-signal'
import { appRouter } from './router.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

// Requests that arrive while the server closes get a response; by default Fastify rejects them with 503.
const app = Fastify({ return503OnClosing: false })

await app.register(openApiPlugin, { prefix: '/rest', trpcOptions: { router: appRouter } })

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
