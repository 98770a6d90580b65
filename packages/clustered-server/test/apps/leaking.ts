import { createServer, type Server } from 'node:http'

const kept: (Buffer | string[])[] = []
const BYTES = 16 * 1024

/** Keeps a few kilobytes of each request for ever, as `LEAK` says: in V8's heap, or outside of it. */
export default function leaking(): Server {
  return createServer((_request, response) => {
    if (process.env['LEAK'] === 'heap') kept.push(Array.from({ length: BYTES / 8 }, String))
    if (process.env['LEAK'] === 'rss') kept.push(Buffer.alloc(BYTES, 1))
    response.end(String(process.pid))
  })
}
