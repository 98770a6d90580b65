import { appendFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { setTimeout as after } from 'node:timers/promises'

const { PIDS, FAILURE } = process.env

/** Writes down that it was started, and fails as it is told to. */
export default async function failing(): Promise<Server> {
  if (PIDS) appendFileSync(PIDS, `${process.pid}\n`)
  if (FAILURE === 'throws') throw new Error('the database is not there')
  if (FAILURE === 'exits') process.exit(3)
  if (FAILURE === 'is killed') process.kill(process.pid, 'SIGKILL')
  if (FAILURE === 'hangs') await after(2 ** 31 - 1)
  const server = createServer((_request, response) => {
    response.end(String(process.pid))
  })
  if (FAILURE === 'dies soon') server.once('listening', () => setTimeout(() => process.exit(4), 50))
  return server
}
