import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { answer } from './faults.ts'

/** An app of Hono: what its module exports by default on other runtimes. */
const app = new Hono<{ Bindings: HttpBindings }>()
app.all('*', async ({ env }) => {
  await answer(env.incoming, env.outgoing)
  return RESPONSE_ALREADY_SENT
})
export default app
