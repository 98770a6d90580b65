import fastifyExpress from '@fastify/express'
import Fastify from 'fastify'
import { closeOnSignal } from '@examples/close-on-signal'
import { app as expressApp } from './express-app.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

// Serves requests while closing. By default, Fastify responds 503.
const app = Fastify({ return503OnClosing: false })

await app.register(fastifyExpress)
app.use(expressApp)

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
