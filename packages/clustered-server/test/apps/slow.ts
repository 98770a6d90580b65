import { createServer, type Server } from 'node:http'

/** Begins to answer at once, and ends after as many milliseconds as the path says. */
export default function slow(): Server {
  return createServer((request, response) => {
    response.flushHeaders()
    const timer = setTimeout(() => response.end(), Number(request.url!.slice(1)))
    response.once('close', () => clearTimeout(timer))
  })
}
