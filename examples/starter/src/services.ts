import { createServer, type Server } from 'node:http'

/** Stands in for your services, in development and in tests. */
export const services: Server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ url: request.url, account: 9 }))
})
