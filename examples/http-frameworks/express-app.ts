import express, { type Express, type Request } from 'express'
import { order } from './order.ts'

interface Name {
  name?: string
  lastname?: string
}

/** The Express app of `express.ts`. `fastify-express.ts` mounts it unchanged. */
export const app: Express = express()

// Both cost CPU and bytes that the other servers do not spend.
app.disable('x-powered-by')
app.disable('etag')

app.get('/api', (request: Request<object, string, unknown, Name>, response) => {
  const { name = '', lastname = '' } = request.query
  response.type('text/plain').send(`${name} ${lastname}`)
})

app.get('/', (_request, response) => {
  response.type('text/plain').send('Hello World!')
})

app.get('/json', (_request, response) => {
  response.json(order)
})
