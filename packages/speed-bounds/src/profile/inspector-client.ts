import { sendRequest } from '../subject/send-request.ts'

/** A connection to the inspector of a Node process. */
export interface Inspector {
  send(method: string, params?: object): Promise<unknown>
  close(): void
}

/** Connects to the inspector at a port of this machine. */
export async function openInspector(port: number, signal: AbortSignal): Promise<Inspector> {
  const { body } = await sendRequest(`http://127.0.0.1:${port}/json/list`, { signal })
  const [target] = JSON.parse(body.toString()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target!.webSocketDebuggerUrl)
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>()
  const fail = (error: Error): void => {
    reject(error)
    for (const { reject: rejectOne } of pending.values()) rejectOne(error)
    pending.clear()
  }
  const onAbort = (): void => {
    fail(signal.reason as Error)
    socket.close()
  }
  socket.addEventListener('open', () => resolve())
  socket.addEventListener('close', () => fail(new Error('The connection to the inspector was closed.')))
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(String(data)) as { id?: number; result?: unknown; error?: Error }
    const waiting = pending.get(id ?? -1)
    pending.delete(id ?? -1)
    if (error) waiting?.reject(new Error(error.message))
    else waiting?.resolve(result)
  })
  signal.addEventListener('abort', onAbort, { once: true })
  await opened
  let sent = 0
  return {
    send(method, params = {}) {
      const id = ++sent
      const answer = Promise.withResolvers<unknown>()
      pending.set(id, answer)
      socket.send(JSON.stringify({ id, method, params }))
      return answer.promise
    },
    close() {
      signal.removeEventListener('abort', onAbort)
      socket.close()
    },
  }
}
