import { createServer, type Server } from 'node:http'
import { getHeapStatistics } from 'node:v8'

/** Says how large its heap may be, and with which arguments it was started. */
export default function heapLimit(): Server {
  return createServer((_request, response) => {
    response.end(JSON.stringify({ limit: getHeapStatistics().heap_size_limit, execArgv: process.execArgv }))
  })
}
