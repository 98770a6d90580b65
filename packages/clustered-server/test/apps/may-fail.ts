import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'

/** Does not start when the file of the environment's `FAIL_IF` is there. */
export default function mayFail(): Server {
  if (existsSync(process.env['FAIL_IF']!)) throw new Error('the new version is broken')
  return createServer((_request, response) => {
    response.end(String(process.pid))
  })
}
