import fastifyNext from '@fastify/nextjs'
import Fastify from 'fastify'
import { dir, fail, host, port } from './app.ts'
import { closeOnSignal } from '@examples/close-on-signal'

const app = Fastify({ return503OnClosing: false })
app.get('/fastify/message', () => ({ message: 'hello' }))
// Its own route for assets does not work with Next 16: it calls a missing method.
await app.register(fastifyNext.default, { dir, dev: false, hostname: host, port, noServeAssets: true })
app.next('/*')

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port }).catch(fail)
console.log('Listening on', app.server.address())
