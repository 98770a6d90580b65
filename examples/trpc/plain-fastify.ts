import Fastify, { type FastifyReply } from 'fastify'
import { z } from 'zod'
import { closeOnSignal } from '@examples/close-on-signal'
import { article, greeting } from './content.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

// Requests that arrive while the server closes get a response; by default Fastify rejects them with 503.
const app = Fastify({ return503OnClosing: false })

const nameSchema = z.object({ name: z.string().min(1).max(100) })
const checkedSchema = z.object({ text: z.string(), length: z.number() })

/** The envelope of tRPC, so that the responses are the same. */
const send = (reply: FastifyReply, data: unknown): FastifyReply => reply.send({ result: { data } })

app.get('/trpc/hello', (_request, reply) => {
  send(reply, { hello: 'world' })
})

app.get<{ Querystring: { input: string } }>('/trpc/greet', (request, reply) => {
  const { name } = nameSchema.parse(JSON.parse(request.query.input))
  send(reply, greeting(name))
})

app.get<{ Querystring: { input: string } }>('/trpc/greetChecked', (request, reply) => {
  const { name } = nameSchema.parse(JSON.parse(request.query.input))
  send(reply, checkedSchema.parse(greeting(name)))
})

app.post('/trpc/note', (request, reply) => {
  const { name } = nameSchema.parse(request.body)
  send(reply, greeting(name))
})

app.get('/trpc/article', (_request, reply) => {
  send(reply, article)
})

// The same as REST.

app.get('/rest/greetings', (request, reply) => {
  const { name } = nameSchema.parse(request.query)
  reply.send(greeting(name))
})

app.get('/rest/checked-greetings/:name', (request, reply) => {
  const { name } = nameSchema.parse(request.params)
  reply.send(checkedSchema.parse(greeting(name)))
})

app.post('/rest/notes', (request, reply) => {
  const { name } = nameSchema.parse(request.body)
  reply.send(greeting(name))
})

app.get('/rest/article', (_request, reply) => {
  reply.send(article)
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
