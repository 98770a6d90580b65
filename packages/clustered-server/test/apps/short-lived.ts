import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'

/** Starts well, and dies when the file of the environment's `DIE_IF` is there. */
export default function shortLived(): Server {
  setInterval(() => {
    if (existsSync(process.env['DIE_IF']!)) process.exit(3)
  }, 20)
  return createServer()
}
