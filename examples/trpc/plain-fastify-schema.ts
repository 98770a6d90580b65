import Fastify, { type FastifyReply } from 'fastify'
import { z } from 'zod'
import { closeOnSignal } from '@examples/close-on-signal'
import { article, greeting } from './content.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const string = { type: 'string' }
const number = { type: 'number' }
const object = (properties: Record<string, object>): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** Schemas for fast-json-stringify. */
const answers = (data: object): object => ({ schema: { response: { 200: object({ result: object({ data }) }) } } })
const helloAnswer = answers(object({ hello: string }))
const greetingAnswer = answers(object({ text: string, length: number }))
const paragraphs = { type: 'array', items: object({ heading: string, text: string, words: number }) }
const articleAnswer = answers(object({ title: string, paragraphs }))

// Requests that arrive while the server closes get a response; by default Fastify rejects them with 503.
const app = Fastify({ return503OnClosing: false })

const nameSchema = z.object({ name: z.string().min(1).max(100) })
const checkedSchema = z.object({ text: z.string(), length: z.number() })

/** The envelope of tRPC, so that the responses are the same. */
const send = (reply: FastifyReply, data: unknown): FastifyReply => reply.send({ result: { data } })

app.get('/trpc/hello', helloAnswer, (_request, reply) => {
  send(reply, { hello: 'world' })
})

app.get<{ Querystring: { input: string } }>('/trpc/greet', greetingAnswer, (request, reply) => {
  const { name } = nameSchema.parse(JSON.parse(request.query.input))
  send(reply, greeting(name))
})

app.get<{ Querystring: { input: string } }>('/trpc/greetChecked', greetingAnswer, (request, reply) => {
  const { name } = nameSchema.parse(JSON.parse(request.query.input))
  send(reply, checkedSchema.parse(greeting(name)))
})

app.post('/trpc/note', greetingAnswer, (request, reply) => {
  const { name } = nameSchema.parse(request.body)
  send(reply, greeting(name))
})

app.get('/trpc/article', articleAnswer, (_request, reply) => {
  send(reply, article)
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
