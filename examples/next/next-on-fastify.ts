import { fail, host, port } from './app.ts'
import { closeOnSignal } from '@examples/close-on-signal'
import makeApp from './next-on-fastify-app.ts'

const app = await makeApp()

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port }).catch(fail)
console.log('Listening on', app.server.address())
