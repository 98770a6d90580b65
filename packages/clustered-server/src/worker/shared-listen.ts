// A worker's side of the sockets that it shares with others beside the server's: see primary/shared-sockets.ts.

import type { Server } from 'node:net'
import { constants } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ListenOptions } from '../app/listen-hook.ts'
import type { SocketQuery } from '../ipc/messages.ts'
import { sendToPrimary } from '../ipc/send-to-primary.ts'
import { keyOf } from '../ipc/socket-key.ts'
import { listenLater, onHandleClosed, type RawHandle } from '../platform/node-internals.ts'

const waiting = new Map<number, (handle: RawHandle | number) => void>()
const settling = new Set<Promise<unknown>>()
/** Sockets that this process listens on. */
const held = new Set<string>()
let requests = 0
let onAnyPort = 0

/** Makes a server that is about to listen do so on a socket of the primary. */
export function listenShared(server: Server, { readableAll, writableAll }: ListenOptions): void {
  listenLater(server, async (bind) => {
    const query: SocketQuery = { ...bind, index: bind.port === 0 ? onAnyPort++ : 0 }
    const key = keyOf(query)
    if (held.has(key)) return -constants.errno.EADDRINUSE
    held.add(key)
    const handle = await request(query)
    if (typeof handle === 'number') {
      held.delete(key)
      return handle
    }
    onHandleClosed(handle, () => {
      held.delete(key)
      sendToPrimary({ type: 'unshare', query })
    })
    const mode = Number(readableAll === true) + 2 * Number(writableAll === true)
    if (mode > 0) handle.fchmod?.(mode)
    return handle
  })
}

/** Takes a requested socket from the primary, or the error number of its bind. */
export function receiveShared(id: number, received: RawHandle | number): void {
  const resolve = waiting.get(id)
  waiting.delete(id)
  resolve?.(received)
}

/** Whether a server waits for a socket of the primary. */
export function isListenPending(): boolean {
  return waiting.size > 0
}

/** Resolves when all servers that are about to listen do so, or have failed. */
export async function listensSettled(): Promise<void> {
  // A server looks its address up before it binds: for an IP address, that takes until the next turn.
  await nextTurn()
  await Promise.all(settling)
  // An unhandled error event ends the process before it reports a successful start.
  await nextTurn()
}

function request(query: SocketQuery): Promise<RawHandle | number> {
  const id = ++requests
  const response = new Promise<RawHandle | number>((resolve) => {
    waiting.set(id, resolve)
    sendToPrimary({ type: 'share', request: id, query })
  })
  settling.add(response)
  void response.then(() => settling.delete(response))
  return response
}
