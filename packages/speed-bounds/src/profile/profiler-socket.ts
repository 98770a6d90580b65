import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds until a subject that responds has connected. */
const CONNECT_TIMEOUT = 5000

/** The race's end of the socket to the profiler in a subject. */
export interface ProfilerSocket {
  /** For the environment of the subject. */
  readonly path: string
  /** Sends a command of V8's inspector protocol. */
  send(method: string, signal: AbortSignal, params?: object): Promise<object>
  close(): void
}

export async function openProfilerSocket(): Promise<ProfilerSocket> {
  // Paths of sockets have at most some 100 characters. Only this user can enter the folder.
  const folder = mkdtempSync(join(tmpdir(), 'sb-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  // Also if this process is interrupted.
  process.once('exit', remove)
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\${basename(folder)}` : join(folder, 'socket')
  const server = createServer()
  const connection = Promise.withResolvers<Connection>()
  server.once('connection', (socket) => {
    // A subject that dies resets its connection, which `closed` reports.
    socket.on('error', () => {})
    connection.resolve({ socket, lines: createInterface({ input: socket }) })
  })
  try {
    await once(server.listen(path), 'listening')
  } catch (error) {
    remove()
    throw error
  }
  return {
    path,
    async send(method, signal, params = {}) {
      const { socket, lines } = await within(CONNECT_TIMEOUT, connection.promise, signal)
      const response = Promise.race([once(lines, 'line', { signal }), closed(socket, signal)])
      socket.write(`${JSON.stringify({ method, params })}\n`)
      const [line] = (await response) as [string]
      const { error, ...result } = JSON.parse(line) as { error?: string }
      if (error !== undefined) throw new Error(error)
      return result
    },
    close() {
      void connection.promise.then(({ socket }) => socket.destroy())
      server.close()
      process.off('exit', remove)
      remove()
    },
  }
}

interface Connection {
  readonly socket: Socket
  readonly lines: Interface
}

async function closed(socket: Socket, signal: AbortSignal): Promise<never> {
  await once(socket, 'close', { signal })
  throw new Error('the connection to its profiler was closed')
}

/** The value of a promise, unless it takes too long. */
async function within<T>(milliseconds: number, promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = sleep(milliseconds, undefined, { signal, ref: false }).then(() => {
    throw new Error('its process has not loaded the profiler. Its "execPath" must pass all arguments to Node.')
  })
  return Promise.race([promise, late])
}
