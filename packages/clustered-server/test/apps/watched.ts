import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** What is still in memory though nobody has a use for it. */
export interface Retained {
  readonly pid: number
  readonly sockets: number
  readonly requests: number
  readonly responses: number
}

/** Tells, when asked for `/retained`, what is left of connections that are closed or have gone to another process. */
export default function watched(): Server {
  const sockets: WeakRef<Socket>[] = []
  const requests: WeakRef<IncomingMessage>[] = []
  const responses: WeakRef<ServerResponse>[] = []
  const countOf = <T extends object>(refs: readonly WeakRef<T>[], isOver: (one: T) => boolean): number =>
    refs.filter((ref) => {
      const one = ref.deref()
      return one !== undefined && isOver(one)
    }).length
  const retained = (): Retained => ({
    pid: process.pid,
    sockets: countOf(sockets, ({ destroyed }) => destroyed),
    requests: countOf(requests, ({ socket }) => socket.destroyed),
    responses: countOf(responses, ({ req }) => req.socket.destroyed),
  })
  const server = createServer(async (request, response) => {
    if (request.url !== '/retained') {
      requests.push(new WeakRef(request))
      responses.push(new WeakRef(response))
      response.end(String(process.pid))
      return
    }
    for (let time = 0; time < 5; time++) {
      globalThis.gc!()
      // What a WeakRef has given stays until the end of a turn.
      await wait(20)
    }
    response.end(JSON.stringify(retained()))
  })
  return server.on('connection', (socket) => void sockets.push(new WeakRef(socket)))
}
