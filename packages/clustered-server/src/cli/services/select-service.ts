import { lstatSync, statSync } from 'node:fs'
import { listServices, type Service } from '../../control/control-client.ts'
import { findPrimary, NoPrimaryError } from '../../control/find-primary.ts'
import { readPid } from '../../control/pid-file.ts'
import { ownUid } from '../../control/runtime-directory.ts'
import { titleOf as titleOfStatus } from './status-text.ts'
import { NoServiceError, UsageError } from '../usage-error.ts'

/** A service; or a primary without control socket, which only signals reach. */
export type Selected = Service | { readonly socket: undefined; readonly pid: number }

/**
 * Finds the service that a command names: by its name, the process id of its primary or of a worker, its pid file or its
 * admin port. Without a name, the only one.
 *
 * @throws NoServiceError
 * @throws UsageError when several match
 */
export async function selectService(selector: string | undefined): Promise<Selected> {
  if (selector !== undefined && /^\d+$/.test(selector)) return byNumber(Number(selector))
  const services = await listServices()
  if (selector === undefined) return theOnly(services, 'no service runs: start one by clustered-server start <app>')
  const named = services.filter(({ status }) => status.name === selector)
  if (named.length > 0) return theOnly(named, '')
  const pid = pidFrom(selector)
  if (pid !== undefined) return byNumber(pid, `the pid file ${selector} is stale: `)
  const names = services.length === 0 ? 'no service runs' : `running: ${listed(services)}`
  throw new NoServiceError(`no service is named ${JSON.stringify(selector)}: ${names}`)
}

/** The process id of a selected service. */
export function pidOf(selected: Selected): number {
  return selected.socket === undefined ? selected.pid : selected.status.pid
}

/** A service as messages show it: `shop (4711)`. */
export function titleOf(selected: Selected): string {
  return titleOfStatus(selected.socket === undefined ? { pid: selected.pid } : selected.status)
}

async function byNumber(number: number, stale = ''): Promise<Selected> {
  let unusable: unknown
  const services = await listServices(ownerOf(number)).catch((error: unknown): Service[] => {
    // Another user could keep root from stopping a service by creating the directory first.
    if (process.platform !== 'linux') throw error
    unusable = error
    return []
  })
  const byPid = services.filter(
    ({ status }) => status.pid === number || status.workers.some(({ pid }) => pid === number),
  )
  const found = byPid.length > 0 ? byPid : services.filter(({ status }) => status.admin?.port === number)
  if (found.length > 0) return theOnly(found, '')
  try {
    // Elsewhere nothing shows that the process is a primary: it may be any.
    if (process.platform !== 'linux')
      throw new NoPrimaryError(`process ${number} has no control socket: set the option "name", or signal it yourself`)
    return { socket: undefined, pid: findPrimary(number) }
  } catch (error) {
    if (unusable !== undefined) throw unusable
    throw new NoServiceError(`${stale}${(error as Error).message}`)
  }
}

function theOnly(services: readonly Service[], none: string): Service {
  const [first, ...more] = services
  if (first === undefined) throw new NoServiceError(none)
  if (more.length > 0) throw new UsageError(`${services.length} services match, choose one: ${listed(services)}`)
  return first
}

function listed(services: readonly Service[]): string {
  return services.map((service) => titleOf(service)).join(', ')
}

/** Root controls the services of each user: those of the user of a process. */
function ownerOf(pid: number): number {
  if (ownUid() !== 0 || process.platform !== 'linux') return ownUid()
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? 0
}

/**
 * Reads a pid file. Another user must not choose the process that a command stops.
 *
 * @throws UsageError
 */
function pidFrom(path: string): number | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) return undefined
  let pid: number | undefined
  try {
    pid = readPid(path)
  } catch (error) {
    throw new UsageError(`cannot read pid file ${path}: ${(error as NodeJS.ErrnoException).code}`)
  }
  if (pid === undefined) throw new UsageError(`expected a process id in file ${path}`)
  if (![0, ownUid(), ownerOf(pid)].includes(stats.uid))
    throw new UsageError(`the pid file ${path} belongs to user ${stats.uid}, who may not choose a process`)
  if ((stats.mode & 0o022) !== 0)
    throw new UsageError(`other users may write the pid file ${path}: run chmod go-w ${path}`)
  return pid
}
