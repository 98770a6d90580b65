import makeApp from './app.ts'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const app = makeApp()
closeOnSignal(app.server, async () => {
  await app.close()
  // The channel of PM2 would keep this process alive. Without PM2 there is none.
  process.disconnect?.()
})

await app.listen({ host, port })
console.log('Listening on', app.server.address())
