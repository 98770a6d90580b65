import { createHTTPServer } from '@trpc/server/adapters/standalone'
import { closeOnSignal } from '@examples/close-on-signal'
import { appRouter } from './router.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const server = createHTTPServer({ router: appRouter, basePath: '/trpc/' })

closeOnSignal(server, () => server.close())

server.listen(port, host, () => {
  console.log('Listening on', server.address())
})
