import { isIPv6 } from 'node:net'
import { isServiceStatus, type ServiceStatus } from '../../observability/service-status.ts'
import { UsageError } from '../usage-error.ts'

/** Values of the flags for the address of the admin server. */
export interface AdminFlags {
  readonly 'admin-host'?: string
  readonly 'admin-port'?: string
}

/** Requests the status from an admin server. */
export async function fetchStatus(flags: AdminFlags): Promise<ServiceStatus> {
  const { 'admin-host': host = '127.0.0.1', 'admin-port': port } = flags
  if (port === undefined) throw new UsageError('expected --admin-port')
  const url = `http://${isIPv6(host) ? `[${host}]` : host}:${port}/status`
  if (!URL.canParse(url)) throw new UsageError(`expected a port and a host, got ${port} and ${host}`)
  try {
    const response = await fetch(url)
    const status: unknown = await response.json().catch(() => undefined)
    if (isServiceStatus(status)) return status
    throw new Error(`status ${response.status} of a server that is not an admin server: see --admin-port`)
  } catch (error) {
    const { cause, message } = error as Error
    const reason = (cause as Error | undefined)?.message ?? message
    throw new Error(`no clustered-server responds at ${url}: ${reason}`, { cause: error })
  }
}
