// The products and their prices.

import { closeOnSignal } from '@examples/close-on-signal'
import Fastify from 'fastify'

/** Prices are in cents. */
const products = [
  { id: 'lamp', name: 'Desk lamp', price: 4900 },
  { id: 'chair', name: 'Oak chair', price: 12_900 },
  { id: 'shelf', name: 'Wall shelf', price: 7900 },
  { id: 'vase', name: 'Blue vase', price: 2400 },
]

const app = Fastify()

app.get('/products', () => products)

// The same for everyone: the gateway may share it between users and hosts.
app.get('/featured', (_request, reply) => {
  reply.header('cache-control', 'public, max-age=30')
  return products.slice(0, 2).map(({ id, name }) => ({ id, name }))
})

app.put<{ Params: { id: string }; Body: { price: number } }>(
  '/products/:id/price',
  {
    schema: {
      body: { type: 'object', required: ['price'], properties: { price: { type: 'integer', minimum: 1 } } },
    },
  },
  (request, reply) => {
    const product = products.find(({ id }) => id === request.params.id)
    if (!product) return reply.code(404).send({ error: 'Unknown product' })
    product.price = request.body.price
    return product
  },
)

closeOnSignal(app.server, () => app.close())

await app.listen({ host: process.env['HOST'] ?? '127.0.0.1', port: Number(process.env['PORT'] ?? 0) })
console.log('Listening on', app.server.address())
