import Fastify from 'fastify'
import { closeOnSignal } from '@examples/close-on-signal'
import { order } from './order.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

interface Name {
  name?: string
  lastname?: string
}

// Serves requests while closing. By default, Fastify responds 503.
const app = Fastify({ return503OnClosing: false })

app.get<{ Querystring: Name }>('/api', (request, reply) => {
  const { name = '', lastname = '' } = request.query
  reply.send(`${name} ${lastname}`)
})

app.get('/', (_request, reply) => {
  reply.send('Hello World!')
})

app.get('/json', (_request, reply) => {
  reply.send(order)
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
