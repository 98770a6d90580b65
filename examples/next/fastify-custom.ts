// Fastify with a catch-all route for Next, as written by hand.

import Fastify from 'fastify'
import { dir, fail, host, next, port } from './app.ts'
import { closeOnSignal } from '@examples/close-on-signal'

const nextApp = next({ dir, dev: false, hostname: host, port })
await nextApp.prepare()
const handle = nextApp.getRequestHandler()

const app = Fastify({ return503OnClosing: false })
// Next reads bodies by itself.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', (_request, _payload, done) => done(null))
app.get('/fastify/message', () => ({ message: 'hello' }))
// In place of the one of Next in `web/pages/api`.
if (process.env.API === 'fastify') app.get('/api/message', () => ({ message: 'hello' }))
app.all('/*', async (request, reply) => {
  reply.hijack()
  await handle(request.raw, reply.raw)
})
app.addHook('onClose', () => nextApp.close())

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port }).catch(fail)
console.log('Listening on', app.server.address())
