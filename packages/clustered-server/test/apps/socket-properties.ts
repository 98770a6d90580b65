import { createServer, type Server } from 'node:http'

/** Says which properties the socket of a request has, in the order in which it got them. */
export default function socketProperties(): Server {
  return createServer(({ socket }, response) => {
    response.end(JSON.stringify(Reflect.ownKeys(socket).map(String)))
  })
}
