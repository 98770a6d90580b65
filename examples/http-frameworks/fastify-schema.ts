import Fastify from 'fastify'
import { closeOnSignal } from '@examples/close-on-signal'
import { order } from './order.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

interface Name {
  name?: string
  lastname?: string
}

const string = { type: 'string' }
const integer = { type: 'integer' }
const number = { type: 'number' }
const boolean = { type: 'boolean' }
const object = (properties: Record<string, object>): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

const address = object({ street: string, city: string, postcode: string, country: string })
const customer = object({ id: integer, name: string, email: string, newsletter: boolean, address })
const item = object({
  sku: string,
  title: string,
  quantity: integer,
  unitPrice: number,
  gift: boolean,
})
const orderSchema = object({
  id: string,
  number: integer,
  status: string,
  placedAt: string,
  shippedAt: { type: ['string', 'null'] },
  customer,
  items: { type: 'array', items: item },
  currency: string,
  shipping: number,
  discount: { type: ['number', 'null'] },
  total: number,
  paid: boolean,
})

// Serves requests while closing. By default, Fastify responds 503.
const app = Fastify({ return503OnClosing: false })

// Fastify sends strings unchanged, so only `/json` needs a schema.
app.get<{ Querystring: Name }>('/api', (request, reply) => {
  const { name = '', lastname = '' } = request.query
  reply.send(`${name} ${lastname}`)
})

app.get('/', (_request, reply) => {
  reply.send('Hello World!')
})

app.get('/json', { schema: { response: { 200: orderSchema } } }, (_request, reply) => {
  reply.send(order)
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
