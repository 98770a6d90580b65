import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'

/** Starts a process for each request for `/orphan`, which leaves another one behind that ends soon. */
export default function leavesOrphans(): Server {
  return createServer((request, response) => {
    if (request.url === '/orphan') spawn('sh', ['-c', 'sleep 0.1 & exit'], { stdio: 'ignore' })
    response.end(String(process.pid))
  })
}
