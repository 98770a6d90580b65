import { closeOnSignal } from '@examples/close-on-signal'
import { app } from './express-app.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const server = app.listen(port, host, (error) => {
  // Express passes a failed listen, such as a port in use, to this callback.
  if (error) throw error
  console.log('Listening on', server.address())
})

closeOnSignal(server, () => server.close())
