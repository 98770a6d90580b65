import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { createTrpcFastify } from 'trpc-fastify'
import { closeOnSignal } from '@examples/close-on-signal'
import { appRouter } from './router.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const folder = new URL('page/', import.meta.url)
const html = await readFile(new URL('index.html', folder))
// client.ts and its imports in one file. The client imports only the type of the router.
const { output } = await build({ input: fileURLToPath(new URL('client.ts', folder)), write: false })

const app = await createTrpcFastify({
  router: appRouter,
  prefix: '/trpc',
  maxBodySize: 1_000_000,
  // A batch names all its procedures in one path segment, which Fastify limits to 100 characters by default.
  fastify: { routerOptions: { maxParamLength: 5000 } },
})

app.get('/', (_request, reply) => {
  reply.type('text/html; charset=utf-8').send(html)
})

app.get('/client.js', (_request, reply) => {
  reply.type('text/javascript; charset=utf-8').send(output[0].code)
})

// The page shows which path its requests took.
app.get('/stats', () => app.trpcStats('/trpc'))

closeOnSignal(app.server, () => app.close())

console.log('Open', await app.listen({ host, port }))
