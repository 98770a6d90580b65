import makeApp from './app.ts'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const app = makeApp()
closeOnSignal(app.server, async () => {
  await app.close()
  // What PM2 has to its processes would keep this one alive; without PM2 there is nothing to disconnect.
  process.disconnect?.()
})

await app.listen({ host, port })
console.log('Listening on', app.server.address())
