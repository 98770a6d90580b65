import { readdirSync, readFileSync } from 'node:fs'
import { PRIMARY_PID } from '../ipc/messages.ts'

/** A process is not a primary. */
export class NoPrimaryError extends Error {}

/**
 * Returns the process id of a primary, given its own or that of one of its workers. Only Linux can check that; elsewhere
 * the process is taken for a primary.
 *
 * @throws NoPrimaryError when the process is neither
 */
export function findPrimary(pid: number): number {
  if (process.platform !== 'linux') return pid
  let own: string
  try {
    own = environmentOf(pid)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new NoPrimaryError(
      code === 'ENOENT' || code === 'ESRCH' ? `there is no process ${pid}` : `cannot inspect process ${pid}: ${code}`,
    )
  }
  const parent = parentOf(pid)
  if (parent !== undefined && isWorkerOf(own, parent)) return parent
  if (workersOf(pid) === 0) throw new NoPrimaryError(`process ${pid} is not a clustered-server with workers`)
  return pid
}

function workersOf(primary: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((name) => {
    if (parentOf(Number(name)) !== primary) return false
    try {
      return isWorkerOf(environmentOf(Number(name)), primary)
    } catch {
      // The process has ended, or belongs to another user.
      return false
    }
  }).length
}

/** Child processes of a worker inherit its environment, but have another parent. */
function isWorkerOf(environment: string, primary: number): boolean {
  return environment.split('\0').includes(`${PRIMARY_PID}=${primary}`)
}

function environmentOf(pid: number): string {
  return readFileSync(`/proc/${pid}/environ`, 'utf8')
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name, in brackets, may contain spaces.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
