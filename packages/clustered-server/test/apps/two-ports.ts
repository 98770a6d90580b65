import { createServer, type Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import faults from './faults.ts'

const { SECOND_PORT, SECOND_SOCKET } = process.env

/** Listens on ports and a UNIX socket of its own as well, such as for metrics: their responses take a while. */
export default function twoPorts(): Server {
  const pids = (): Server =>
    createServer(async ({ url }, response) => {
      const second = addresses.map((one) => (typeof one === 'object' ? one?.port : one))
      await wait(Number(url!.slice(1)))
      response.end(JSON.stringify({ pid: process.pid, second }))
    })
  const others = [pids().listen(Number(SECOND_PORT), '127.0.0.1'), pids().listen(0, '127.0.0.1')]
  if (SECOND_SOCKET) others.push(pids().listen(SECOND_SOCKET))
  const addresses = others.map((server) => server.address())
  for (const [index, server] of others.entries()) server.once('listening', () => (addresses[index] = server.address()))
  return faults()
}
