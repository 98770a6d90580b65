import { readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { isServiceStatus, type ServiceStatus } from '../observability/service-status.ts'
import { assertPrivate, hasControlSockets, ownUid, runtimeDirectory } from './runtime-directory.ts'

/** A server that can be controlled. */
export interface Service {
  /** Path of its control socket. */
  readonly socket: string
  readonly status: ServiceStatus
}

/** The service has ended before it responded. */
export class LostServiceError extends Error {}

/** Milliseconds for a status. */
const STATUS_TIMEOUT = 5000

/**
 * All running services of a user.
 *
 * @throws Error when the directory of their sockets is not private
 */
export async function listServices(uid: number = ownUid()): Promise<Service[]> {
  const directory = openDirectory(uid)
  if (directory === undefined) return []
  const pids = readdirSync(directory).flatMap((name) => /^(\d+)\.sock$/.exec(name)?.[1] ?? [])
  const services = await Promise.all(pids.map((pid) => serviceAt(directory, Number(pid))))
  return services.filter((service) => service !== undefined).toSorted((a, b) => a.status.pid - b.status.pid)
}

/** The service whose primary is a process of a user; `undefined` without one that responds. */
export async function serviceOf(pid: number, uid: number = ownUid()): Promise<Service | undefined> {
  const directory = openDirectory(uid)
  return directory === undefined ? undefined : serviceAt(directory, pid)
}

/** Requests the status again. `undefined` when the service does not respond. */
export async function statusOf({ socket, status: { pid } }: Service): Promise<ServiceStatus | undefined> {
  const body = await send(socket, 'GET', '/status', STATUS_TIMEOUT).catch(() => undefined)
  // The number of a process may be in use again.
  return isServiceStatus(body) && body.pid === pid ? body : undefined
}

/**
 * Runs a command on a service: `/reload`, `/scale?workers=3` or `/stop`.
 *
 * @throws Error with the reason of the service
 */
export async function command({ socket }: Service, path: string): Promise<ServiceStatus | undefined> {
  try {
    const body = await send(socket, 'POST', path)
    return isServiceStatus(body) ? body : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    throw new LostServiceError('the service has ended meanwhile', { cause: error })
  }
}

function openDirectory(uid: number): string | undefined {
  if (!hasControlSockets) return undefined
  const directory = runtimeDirectory(uid)
  try {
    assertPrivate(directory, uid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return directory
}

async function serviceAt(directory: string, pid: number): Promise<Service | undefined> {
  const socket = join(directory, `${pid}.sock`)
  try {
    const body = await send(socket, 'GET', '/status', STATUS_TIMEOUT)
    if (isServiceStatus(body) && body.pid === pid) return { socket, status: body }
  } catch (error) {
    // A primary that was killed leaves its socket. One that starts right now is left alone.
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' && !isAlive(pid)) rmSync(socket, { force: true })
  }
  return undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function send(socketPath: string, method: string, path: string, timeout?: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const signal = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
    const sent = request({ socketPath, method, path, agent: false, ...(signal && { signal }) })
    sent.once('error', reject)
    sent.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.once('error', reject)
      response.once('end', () => {
        try {
          const body = JSON.parse(text) as { error?: unknown }
          if (typeof body.error === 'string') reject(new Error(body.error.split('\n', 1)[0]))
          else resolve(body)
        } catch (error) {
          reject(error)
        }
      })
    })
    sent.end()
  })
}
