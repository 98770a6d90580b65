import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { trpcServer } from '@hono/trpc-server'
import { Hono, type Context as HonoContext } from 'hono'
import { closeOnSignal } from '@examples/close-on-signal'
import { onError, responseMeta } from './options.ts'
import { appRouter } from './router.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const createContext = (_options: unknown, { req }: HonoContext): { user: string } => ({
  user: req.header('x-user') ?? 'guest',
})

const app = new Hono()

// The same mounts as in `options.ts`.
app.use('/trpc/*', trpcServer({ router: appRouter }))
app.use('/context/*', trpcServer({ router: appRouter, createContext }))
app.use('/full/*', trpcServer({ router: appRouter, createContext, responseMeta, onError }))

const server = serve({ fetch: app.fetch, hostname: host, port }, (address) => {
  console.log('Listening on', address)
})

// By default, `serve` creates an HTTP/1 server.
closeOnSignal(server as Server, () => server.close())
