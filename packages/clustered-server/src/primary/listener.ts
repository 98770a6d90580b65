import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { cannotListen } from '../errors.ts'
import type { ResolvedOptions } from '../options/types.ts'
import { canInheritSockets, findPort, type SharedPort } from '../platform/windows-port.ts'
import { bindListener, type BoundListener, bindUnixListener, takeListener } from '../platform/node-internals.ts'
import { passedSocket } from '../platform/systemd-socket.ts'
import { removeStale } from '../platform/unix-socket.ts'

/** Socket that the workers accept from. */
export type Listener = BoundListener | SharedPort

/**
 * Binds the socket of the server, or takes the one that systemd has passed.
 *
 * @throws CLUSTERED_SERVER_CANNOT_LISTEN
 */
export async function bind({ port, host, path }: ResolvedOptions): Promise<Listener> {
  try {
    const passed = canInheritSockets() ? passedSocket() : undefined
    if (passed !== undefined) return takeListener(passed)
    if (path !== undefined) return await bindPath(path)
    const address = await addressOf(host)
    return canInheritSockets() ? bindListener(port, address) : await findPort(port, address)
  } catch (error) {
    throw cannotListen(host, path ?? port, error)
  }
}

/** Resolves a host name as `net.Server.listen()` does. */
async function addressOf(host: string | undefined): Promise<string | undefined> {
  if (host === undefined || isIP(host) !== 0) return host
  const { address } = await lookup(host)
  return address
}

async function bindPath(path: string): Promise<Listener> {
  if (!canInheritSockets()) return { fd: undefined, port: 0, host: '', path, close: () => {} }
  await removeStale(path)
  return bindUnixListener(path)
}
