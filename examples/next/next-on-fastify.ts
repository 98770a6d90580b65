import { createNextOnFastify } from 'next-on-fastify'
import { dir, fail, host, port } from './app.ts'
import { closeOnSignal } from './close-on-signal.ts'

const fastify = { return503OnClosing: false }
const app = await createNextOnFastify({ dir, dev: false, hostname: host, port, memory: { proxyMemory: true }, fastify })
app.get('/fastify/message', () => ({ message: 'hello' }))
/** What came from memory, and why the rest did not. */
app.get('/fastify/memory', () => app.nextMemory.get('')?.counts ?? {})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port }).catch(fail)
console.log('Listening on', app.server.address())
