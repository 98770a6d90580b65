// How workers get at the port where no process can have the socket of another one, which is so on Windows: they share it by
// `node:cluster`, where each listens for itself. Connections cannot go from one to the other then.

import type { ChildProcess, ForkOptions } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

/** A port that the workers share: nobody listens on it but they. */
export interface SharedPort {
  readonly fd: undefined
  readonly port: number
  readonly host: string
  /** That of a named pipe. */
  readonly path: string | undefined
  close: () => void
}

/** Whether processes get the sockets that the one has bound which has started them. */
export function canInheritSockets(): boolean {
  return process.platform !== 'win32'
}

/**
 * Finds a port that can be listened on. Until the first worker does, somebody else may.
 *
 * @throws {Error} of Node, such as `EADDRINUSE`.
 */
export async function findPort(wanted: number, host: string | undefined): Promise<SharedPort> {
  const server = createServer().listen({ port: wanted, host })
  await once(server, 'listening')
  const { port, address } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { fd: undefined, port, host: address, path: undefined, close: () => {} }
}

/** Starts a worker that shares with others what it listens on. */
export function forkInCluster(entry: URL, { execArgv, env, stdio, serialization }: ForkOptions): ChildProcess {
  // Windows has no other policy by default: what the primary accepted for a worker would be lost with it.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    ...{ exec: fileURLToPath(entry), args: [], execArgv: [...(execArgv ?? [])], serialization },
    stdio: stdio as NonNullable<typeof cluster.settings.stdio>,
  })
  return cluster.fork(env).process
}
