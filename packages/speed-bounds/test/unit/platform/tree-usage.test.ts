import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { listTree } from '../../../src/platform/process-tree.ts'
import { readPortableTree, readTree, type TreeReading, useBetween } from '../../../src/platform/tree-usage.ts'

/** CPU time that a process is told to burn, in milliseconds; how long that takes is the machine's business. */
const BURNT = 300
/** The kernel's ticks; a reading per process may be short of one. */
const TICK = 10
const linux = process.platform === 'linux'

/** Follows commands from its channel: burns CPU, starts a child like itself, forwards commands to it, ends. */
const PROGRAM = `
const { spawn } = require('node:child_process')
let child
const tell = (report) => process.send(report)
const burn = (milliseconds) => {
  const start = process.cpuUsage()
  for (let used = start; (used.user + used.system - start.user - start.system) / 1000 < milliseconds;) {
    for (let i = 0; i < 1e5; i++) Math.sqrt(i)
    used = process.cpuUsage()
  }
}
process.on('message', ({ order, path, ...rest }) => {
  if (path > 0) return child.send({ order, path: path - 1, ...rest })
  if (order === 'start') {
    child = spawn(process.execPath, ['-e', process.env.PROGRAM], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    child.on('message', tell)
    child.once('spawn', () => tell({ done: 'start', pid: child.pid }))
    child.once('exit', () => tell({ done: 'end', pid: child.pid }))
  } else if (order === 'burn') {
    burn(rest.milliseconds)
    tell({ done: 'burn', pid: process.pid })
  } else if (order === 'burn in a child that ends') {
    require('node:child_process').spawnSync(process.execPath, ['-e', '(' + burn + ')(' + rest.milliseconds + ')'])
    tell({ done: order, pid: process.pid })
  } else if (order === 'end') process.exit()
  else if (order === 'leave a daemon') {
    // A shell in between that ends at once: the daemon loses its parent and keeps the session.
    const daemon = spawn('/bin/sh', ['-c', '"$0" -e "setTimeout(() => {}, 60000)" >/dev/null 2>&1 & echo $!', process.execPath])
    let output = ''
    daemon.stdout.on('data', (text) => { output += text })
    daemon.once('close', () => tell({ done: order, pid: Number(output) }))
  }
})
process.once('disconnect', () => process.exit())
`

interface Report {
  done: string
  pid: number
}

const roots: ChildProcess[] = []
const folders: string[] = []

async function startRoot(program = process.execPath): Promise<ChildProcess> {
  const root = spawn(program, ['-e', PROGRAM], {
    env: { ...process.env, PROGRAM },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // The leader of a session, as a subject is.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  roots.push(root)
  await once(root, 'spawn')
  // It reports when its program is loaded, so that no start-up is measured.
  await told(root, { order: 'burn', milliseconds: 1 })
  return root
}

/** Gives an order, to a descendant when there is a `path`, and waits for the report. */
async function told(
  root: ChildProcess,
  order: { order: string; path?: number; milliseconds?: number },
  done = order.order,
): Promise<number> {
  const report = new Promise<number>((resolve) => {
    const onMessage = (message: Report): void => {
      if (message.done !== done) return
      root.off('message', onMessage)
      resolve(message.pid)
    }
    root.on('message', onMessage)
  })
  root.send({ path: 0, ...order })
  return report
}

async function startFamily(): Promise<{ root: ChildProcess; pid: number; child: number; grandchild: number }> {
  const root = await startRoot()
  const child = await told(root, { order: 'start' })
  const grandchild = await told(root, { order: 'start', path: 1 })
  // Until both have started up, they burn CPU on their own account.
  await told(root, { order: 'burn', path: 2, milliseconds: 1 })
  await told(root, { order: 'burn', path: 1, milliseconds: 1 })
  return { root, pid: root.pid!, child, grandchild }
}

afterEach(async () => {
  for (const root of roots) {
    const ended = root.exitCode === null && root.signalCode === null ? once(root, 'exit') : undefined
    try {
      // The whole group, with a daemon that outlived its root. On Windows each ends with its parent's channel.
      process.kill(process.platform === 'win32' ? root.pid! : -root.pid!, 'SIGKILL')
    } catch {
      // Nobody is left.
    }
    await ended
  }
  for (const folder of folders) rmSync(folder, { recursive: true })
  roots.length = 0
  folders.length = 0
})

describe('the CPU time between two readings', () => {
  it('includes a grandchild', async () => {
    const { root, pid } = await startFamily()
    const before = await readTree(pid)
    await told(root, { order: 'burn', path: 2, milliseconds: BURNT })
    const after = await readTree(pid)
    const { cpu } = useBetween(before, after)
    expect(cpu).toBeGreaterThanOrEqual(BURNT - TICK)
    // The rest is for passing on two messages, and for the threads of Node's compiler.
    expect(cpu).toBeLessThan(BURNT * 1.5)
  })

  it('adds up over the processes of the tree', async () => {
    const { root, pid } = await startFamily()
    const before = await readTree(pid)
    // One after the other: the first report would be taken for that of both.
    await told(root, { order: 'burn', path: 1, milliseconds: BURNT / 2 })
    await told(root, { order: 'burn', path: 0, milliseconds: BURNT / 2 })
    const after = await readTree(pid)
    const { cpu } = useBetween(before, after)
    expect(cpu).toBeGreaterThanOrEqual(BURNT - 2 * TICK)
    expect(cpu).toBeLessThan(BURNT * 1.5)
  })

  it('is close to zero for an idle tree', async () => {
    const { pid } = await startFamily()
    const before = await readTree(pid)
    const after = await readTree(pid)
    const { cpu, busiest } = useBetween(before, after)
    expect(cpu).toBeLessThan(BURNT / 3)
    expect(busiest).toBeGreaterThanOrEqual(0)
  })

  // Elsewhere a process takes its CPU time with it when it ends.
  it.skipIf(!linux)('includes a child that ended in between', async () => {
    const root = await startRoot()
    await told(root, { order: 'start' })
    await told(root, { order: 'burn', path: 1, milliseconds: 1 })
    const before = await readTree(root.pid!)
    await told(root, { order: 'burn', path: 1, milliseconds: BURNT })
    await told(root, { order: 'end', path: 1 })
    const after = await readTree(root.pid!)
    expect(after.threads.size).toBeLessThan(before.threads.size)
    const { cpu } = useBetween(before, after)
    // In ticks, each of user and system time of two processes cut off.
    expect(cpu).toBeGreaterThanOrEqual(BURNT - 4 * TICK)
    expect(cpu).toBeLessThan(BURNT * 1.5)
  })

  it.skipIf(!linux)('includes a child that started and ended in between', async () => {
    const root = await startRoot()
    const before = await readTree(root.pid!)
    await told(root, { order: 'burn in a child that ends', milliseconds: BURNT })
    const after = await readTree(root.pid!)
    const { cpu } = useBetween(before, after)
    expect(cpu).toBeGreaterThanOrEqual(BURNT - 4 * TICK)
    expect(cpu).toBeLessThan(BURNT * 2)
  })
})

describe('the busiest thread', () => {
  const reading = (at: number, threads: Record<string, [run: number, wait: number]>, coarse = 0): TreeReading => ({
    at,
    threads: new Map(Object.entries(threads).map(([id, [run, wait]]) => [id, { run, wait }])),
    coarse,
    rss: 0,
    peakRss: 0,
  })

  it('counts waiting for a core as work', () => {
    const before = reading(1000, { '1/1': [50, 5], '1/2': [10, 0] })
    const after = reading(1200, { '1/1': [110, 25], '1/2': [60, 0] })
    expect(useBetween(before, after)).toEqual({ cpu: 110, busiest: 80 })
  })

  it('counts all time of a new thread', () => {
    const after = reading(1200, { '1/1': [20, 0], '1/9': [90, 10] })
    expect(useBetween(reading(1000, { '1/1': [10, 0] }), after)).toEqual({ cpu: 100, busiest: 100 })
  })

  it('ignores an ended thread, whose CPU time is in the ticks', () => {
    const before = reading(0, { '1/1': [10, 0], '2/2': [200, 0] }, 210)
    expect(useBetween(before, reading(100, { '1/1': [20, 0] }, 260)).cpu).toBe(50)
    // Ticks are coarse, so they never reduce a reading in nanoseconds.
    expect(useBetween(before, reading(100, { '1/1': [20, 0] }, 210)).cpu).toBe(10)
  })

  it('is close to the whole time for a process in a busy loop', async () => {
    const root = await startRoot()
    const before = await readTree(root.pid!)
    await told(root, { order: 'burn', milliseconds: BURNT })
    const after = await readTree(root.pid!)
    const share = useBetween(before, after).busiest / (after.at - before.at)
    expect(share).toBeGreaterThan(linux ? 0.8 : 0.2)
    // The clocks of the kernel and of this process are not read at the same instant.
    expect(share).toBeLessThanOrEqual(1.1)
  })
})

describe('the portable reading', () => {
  it.skipIf(!linux)('agrees with /proc on CPU time, within a tenth and a tick per process', async () => {
    const { root, pid } = await startFamily()
    const before = [await readTree(pid), await readPortableTree(pid)] as const
    await told(root, { order: 'burn', path: 2, milliseconds: BURNT })
    const after = [await readTree(pid), await readPortableTree(pid)] as const
    const [exact, portable] = [0, 1].map((index) => useBetween(before[index]!, after[index]!).cpu)
    expect(Math.abs(portable! - exact!)).toBeLessThanOrEqual(exact! / 10 + 3 * TICK)
  })

  it.skipIf(!linux)('agrees with /proc on resident memory, within a twentieth', async () => {
    const { pid } = await startFamily()
    const exact = await readTree(pid)
    const portable = await readPortableTree(pid)
    expect(portable.rss / exact.rss).toBeGreaterThan(0.95)
    expect(portable.rss / exact.rss).toBeLessThan(1.05)
    expect(portable.threads.size).toBe(3)
  })

  it('includes the CPU time of a grandchild', async () => {
    const { root, pid } = await startFamily()
    const before = await readPortableTree(pid)
    await told(root, { order: 'burn', path: 2, milliseconds: BURNT })
    const { cpu } = useBetween(before, await readPortableTree(pid))
    expect(cpu).toBeGreaterThanOrEqual(BURNT - 4 * TICK)
    expect(cpu).toBeLessThan(BURNT * 2)
  })

  it('is empty for an ended process', async () => {
    const root = await startRoot()
    const gone = once(root, 'exit')
    root.kill('SIGKILL')
    await gone
    expect(await readPortableTree(root.pid!)).toMatchObject({ threads: new Map(), coarse: 0, rss: 0, peakRss: 0 })
  })
})

describe('resident memory', () => {
  it('is the sum over the tree, and at most its peak', async () => {
    const { pid, child, grandchild } = await startFamily()
    const tree = await readTree(pid)
    const below = await readTree(child)
    const last = await readTree(grandchild)
    // A bare Node process is some 40 MB.
    expect(last.rss).toBeGreaterThan(10e6)
    expect(below.rss).toBeGreaterThan(last.rss + 10e6)
    expect(tree.rss).toBeGreaterThan(below.rss + 10e6)
    expect(tree.peakRss).toBeGreaterThanOrEqual(tree.rss)
  })
})

describe('the list of a tree', () => {
  it('has the root, its child and its grandchild only', async () => {
    const { pid, child, grandchild } = await startFamily()
    // This process is an ancestor, and `other` a tree of its own.
    const other = await startRoot()
    expect(new Set(await listTree(pid))).toEqual(new Set([pid, child, grandchild]))
    expect(await listTree(other.pid!)).toEqual([other.pid])
  })

  it('is empty for an ended process', async () => {
    const root = await startRoot()
    const gone = once(root, 'exit')
    root.kill('SIGKILL')
    await gone
    expect(await listTree(root.pid!)).toEqual([])
  })

  it.skipIf(!linux)('has a daemon that left its parent but not its session', async () => {
    const root = await startRoot()
    const daemon = await told(root, { order: 'leave a daemon' })
    expect(new Set(await listTree(root.pid!))).toEqual(new Set([root.pid!, daemon]))
  })

  // The command name stands between the fields of /proc/<pid>/stat, unescaped.
  it.skipIf(!linux)('parses a program name that contains parentheses and fields', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-test-'))
    folders.push(folder)
    const program = join(folder, 'a) Z 1 (b')
    symlinkSync(process.execPath, program)
    const root = await startRoot(program)
    const child = await told(root, { order: 'start' })
    await told(root, { order: 'burn', path: 1, milliseconds: 1 })
    expect(new Set(await listTree(root.pid!))).toEqual(new Set([root.pid!, child]))
    const before = await readTree(root.pid!)
    await told(root, { order: 'burn', milliseconds: 50 })
    expect(useBetween(before, await readTree(root.pid!)).cpu).toBeGreaterThanOrEqual(50 - TICK)
  })
})
