import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify from 'fastify'
import { closeOnSignal } from '@examples/close-on-signal'
import { mounts } from './options.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

// Requests that arrive while the server closes get a response; by default Fastify rejects them with 503.
// A batch names all its procedures in one path segment, which Fastify limits to 100 characters by default.
const app = Fastify({ return503OnClosing: false, routerOptions: { maxParamLength: 5000 } })

for (const mount of mounts) await app.register(fastifyTRPCPlugin, mount)

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
