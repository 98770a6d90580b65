import { readdirSync, readFileSync } from 'node:fs'
import { PRIMARY } from '../worker/run-on-one-worker.ts'

/**
 * The primary that a process is, or is a worker of. Elsewhere than on Linux a process says nothing of that, and is taken
 * for a primary.
 *
 * @throws {Error} when it is neither
 */
export function findPrimary(pid: number): number {
  if (process.platform !== 'linux') return pid
  let own: string
  try {
    own = environmentOf(pid)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Who signals it hears that it is not there.
    if (code === 'ENOENT' || code === 'ESRCH') return pid
    throw new Error(`it is not known what process ${pid} runs: ${code}`, { cause: error })
  }
  const parent = parentOf(pid)
  if (parent !== undefined && isWorkerOf(own, parent)) return parent
  if (workersOf(pid) === 0) throw new Error(`process ${pid} is no clustered-server with workers`)
  return pid
}

function workersOf(primary: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((name) => {
    if (parentOf(Number(name)) !== primary) return false
    try {
      return isWorkerOf(environmentOf(Number(name)), primary)
    } catch {
      // It has ended, or is somebody else's.
      return false
    }
  }).length
}

/** What a worker has started has its environment too, and another parent. */
function isWorkerOf(environment: string, primary: number): boolean {
  return environment.split('\0').includes(`${PRIMARY}=${primary}`)
}

function environmentOf(pid: number): string {
  return readFileSync(`/proc/${pid}/environ`, 'utf8')
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the command, in brackets, may have spaces.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
