import express, { type Express, type Request } from 'express'
import { order } from './order.ts'

interface Name {
  name?: string
  lastname?: string
}

/** The Express app of `express.ts`, which `fastify-express.ts` mounts as it is. */
export const app: Express = express()

// Both are work and bytes that the other servers do not have.
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
