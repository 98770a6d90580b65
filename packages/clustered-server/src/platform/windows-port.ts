// On Windows a process cannot inherit the socket of another one. There workers share the port by `node:cluster`, and
// connections cannot be handed over.

import type { ChildProcess, ForkOptions } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

/** A port that the workers share, and that the primary does not listen on. */
export interface SharedPort {
  readonly fd: undefined
  readonly port: number
  readonly host: string
  /** Path of a named pipe. */
  readonly path: string | undefined
  close: () => void
}

/** Whether a process can inherit sockets of its parent. */
export function canInheritSockets(): boolean {
  return process.platform !== 'win32'
}

/**
 * Finds a free port. Another process may take it before the first worker listens.
 *
 * @throws Error of Node, such as EADDRINUSE
 */
export async function findPort(wanted: number, host: string | undefined): Promise<SharedPort> {
  const server = createServer().listen({ port: wanted, host })
  await once(server, 'listening')
  const { port, address } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { fd: undefined, port, host: address, path: undefined, close: () => {} }
}

/** Starts a worker that shares its listening sockets with others. */
export function forkInCluster(
  entry: URL,
  args: readonly string[],
  { cwd, execArgv, env, stdio, serialization }: ForkOptions,
): ChildProcess {
  // The default on Windows: connections that the primary accepts for a worker would be lost with that worker.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    ...{ exec: fileURLToPath(entry), args: [...args], execArgv: [...(execArgv ?? [])], serialization },
    ...(typeof cwd === 'string' && { cwd }),
    stdio: stdio as NonNullable<typeof cluster.settings.stdio>,
  })
  return cluster.fork(env).process
}
