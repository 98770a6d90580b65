// A worker's side of the sockets that it shares with others beside the server's: see shared-sockets.ts.

import type { Server } from 'node:net'
import { constants } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ListenOptions } from '../app/listen-hook.ts'
import { listenLater, onHandleClosed, type RawHandle } from '../platform/node-internals.ts'
import { keyOf, type SocketQuery } from '../primary/shared-sockets.ts'
import { tellPrimary } from '../ipc/send-to-primary.ts'

const waiting = new Map<number, (handle: RawHandle | number) => void>()
const settling = new Set<Promise<unknown>>()
/** What this process listens on. */
const held = new Set<string>()
let requests = 0
let onAnyPort = 0

/** Has a server that is about to listen do so on a socket of the primary. */
export function listenShared(server: Server, { readableAll, writableAll }: ListenOptions): void {
  listenLater(server, async (bind) => {
    const query: SocketQuery = { ...bind, index: bind.port === 0 ? onAnyPort++ : 0 }
    const key = keyOf(query)
    if (held.has(key)) return -constants.errno.EADDRINUSE
    held.add(key)
    const handle = await ask(query)
    if (typeof handle === 'number') {
      held.delete(key)
      return handle
    }
    onHandleClosed(handle, () => {
      held.delete(key)
      tellPrimary({ type: 'unshare', query })
    })
    const mode = Number(readableAll === true) + 2 * Number(writableAll === true)
    if (mode > 0) handle.fchmod?.(mode)
    return handle
  })
}

/** The primary has sent a socket, or the number of the error that binding it gave. */
export function receiveShared(request: number, received: RawHandle | number): void {
  const resolve = waiting.get(request)
  waiting.delete(request)
  resolve?.(received)
}

/** Resolves when all that are about to listen do, or have failed to. */
export async function listensSettled(): Promise<void> {
  await Promise.all(settling)
  // An error that nobody listens for ends the process before it says that it has started.
  await nextTurn()
}

function ask(query: SocketQuery): Promise<RawHandle | number> {
  const request = ++requests
  const answer = new Promise<RawHandle | number>((resolve) => {
    waiting.set(request, resolve)
    tellPrimary({ type: 'share', request, query })
  })
  settling.add(answer)
  void answer.then(() => settling.delete(answer))
  return answer
}
