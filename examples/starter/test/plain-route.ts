// The same response as the query, by a plain route of Fastify with the same logger.

import Fastify from 'fastify'

const app = Fastify({ logger: { level: 'warn' } })
app.get<{ Querystring: { input: string } }>('/trpc/greet', async ({ query }) => ({
  result: { data: { text: `Hello ${JSON.parse(query.input) as string}` } },
}))
await app.listen({ host: process.env.HOST ?? '127.0.0.1', port: Number(process.env.PORT) })
