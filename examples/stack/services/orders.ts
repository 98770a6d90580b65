// The orders of all users, and an event for each new one.

import { EventEmitter, once } from 'node:events'
import { closeOnSignal } from '@examples/close-on-signal'
import Fastify from 'fastify'

interface Order {
  readonly id: number
  readonly user: string
  readonly product: string
  readonly placedAt: string
}

/** Maximum time until a request for events gets a response without any, in milliseconds. */
const POLL_TIMEOUT = 5000
/** Number of orders in a list. */
const LIST_LENGTH = 10

const orders: Order[] = []
const placed = new EventEmitter().setMaxListeners(0)

const ordersOf = (user: string, after = 0): Order[] => orders.filter((order) => order.user === user && order.id > after)

const app = Fastify({ forceCloseConnections: true })

app.get<{ Querystring: { user: string } }>('/orders', (request) => {
  const all = ordersOf(request.query.user)
  return { count: all.length, latest: all.slice(-LIST_LENGTH).toReversed() }
})

app.post<{ Body: { user: string; product: string } }>(
  '/orders',
  {
    schema: {
      body: {
        type: 'object',
        required: ['user', 'product'],
        properties: { user: { type: 'string' }, product: { type: 'string' } },
      },
    },
  },
  (request) => {
    const { user, product } = request.body
    const order = { id: orders.length + 1, user, product, placedAt: new Date().toISOString() }
    orders.push(order)
    placed.emit(user)
    return order
  },
)

/** Orders with a higher number than `after`. Waits for the first one, but not for ever. */
app.get<{ Querystring: { user: string; after: number } }>(
  '/events',
  { schema: { querystring: { type: 'object', properties: { after: { type: 'integer', default: 0 } } } } },
  async (request) => {
    const { user, after } = request.query
    if (ordersOf(user, after).length === 0) {
      await once(placed, user, { signal: AbortSignal.timeout(POLL_TIMEOUT) }).catch(() => undefined)
    }
    return ordersOf(user, after)
  },
)

closeOnSignal(app.server, () => app.close())

await app.listen({ host: process.env['HOST'] ?? '127.0.0.1', port: Number(process.env['PORT'] ?? 0) })
console.log('Listening on', app.server.address())
