// The processes of a tree: a process and its descendants.

import pidtree from 'pidtree'
import { canReadProc, listDirectory, readText } from './proc-files.ts'

/** A process of a tree, on Linux. */
export interface ProcStat {
  pid: number
  parent: number
  session: number
  ticks: number
}

/** The pids of a tree: the root, its descendants, and on Linux also daemons of its session. */
export async function listTree(root: number): Promise<number[]> {
  if (canReadProc) return procTree(root).map(({ pid }) => pid)
  return pidtree(root, { root: true }).catch(() => [])
}

/** Sends a signal to the processes of a tree, and to the process group of its root, which may have new ones. */
export function signalTree(root: number, pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of process.platform === 'win32' ? pids : [-root, ...pids]) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended by itself.
    }
  }
}

/** The processes of a tree, on Linux. */
export function procTree(root: number): ProcStat[] {
  const all = listDirectory('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => procStat(Number(name)))
    .filter((stat) => stat !== undefined)
  const members = new Set([root])
  // Parents may be listed after their children: repeat until nothing is added.
  for (let size = 0; size !== members.size;) {
    size = members.size
    for (const { pid, parent, session } of all) if (members.has(parent) || session === root) members.add(pid)
  }
  return all.filter(({ pid }) => members.has(pid))
}

function procStat(pid: number): ProcStat | undefined {
  const text = readText(`/proc/${pid}/stat`)
  // The command name is in parentheses, and can contain parentheses. See proc(5).
  const [state, parent, , session, , , , , , , , ...times] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  if (state === undefined || state === 'Z') return undefined
  const ticks = times.slice(0, 4).reduce((sum, time) => sum + Number(time), 0)
  return { pid, parent: Number(parent), session: Number(session), ticks }
}
