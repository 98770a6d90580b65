import { createNextOnFastify } from 'next-on-fastify'
import { dir, fail, host, port } from './app.ts'
import { closeOnSignal } from './close-on-signal.ts'

const fastify = { return503OnClosing: false }
const app = await createNextOnFastify({ dir, dev: false, hostname: host, port, fastify })
app.get('/fastify/message', () => ({ message: 'hello' }))

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port }).catch(fail)
console.log('Listening on', app.server.address())
