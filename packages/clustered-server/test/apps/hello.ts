import { createServer, type Server } from 'node:http'

/** Says which process it is. */
export default function hello(): Server {
  return createServer((_request, response) => {
    response.end(String(process.pid))
  })
}
