import { createServer, type Server } from 'node:http'

/** Says which properties the socket of a request has, in the order in which it got them, and how much it buffers. */
export default function socketProperties(): Server {
  return createServer({ highWaterMark: 100_000 }, ({ socket }, response) => {
    const { readableHighWaterMark, writableHighWaterMark } = socket
    const properties = Reflect.ownKeys(socket).map(String)
    response.end(JSON.stringify({ properties, readableHighWaterMark, writableHighWaterMark }))
  })
}
