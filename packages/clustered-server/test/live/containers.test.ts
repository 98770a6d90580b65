// Quotas and limits that the kernel sets, where tests may set them: as root, or where user namespaces are allowed.

import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'

const MEBIBYTE = 2 ** 20
const index = new URL('../../src/index.ts', import.meta.url).href
const run = promisify(execFile)

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** What a module prints as JSON, in a process for which a shell has done something first. */
async function printedAfter(
  shell: string,
  source: string,
  command: readonly string[] = ['sh', '-c'],
): Promise<unknown> {
  const module = join(temporaryDirectory(), 'module.mjs')
  writeFileSync(module, source)
  const [program, ...rest] = command
  const { stdout } = await run(program!, [...rest, `set -e; ${shell}; exec "$0" "$1"`, process.execPath, module])
  return JSON.parse(stdout)
}

describe('a CPU quota', () => {
  const CORES = `
    import { availableCores } from '${index}'
    console.log(availableCores())
  `
  const directory = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup/cpu,cpuacct'].find((path) => existsSync(path))
  const outer = `${directory}/clustered-server-${process.pid}`
  const inner = `${outer}/inner`
  const canMake = ((): boolean => {
    try {
      mkdirSync(outer)
      rmdirSync(outer)
      return true
    } catch {
      return false
    }
  })()

  it.runIf(canMake).each([
    { around: 400_000, own: 100_000, expected: 1 },
    { around: 100_000, own: -1, expected: 1 },
    { around: 25_000, own: 25_000, expected: 1 },
    { around: 200_000, own: 150_000, expected: 1 },
    { around: -1, own: 200_000, expected: 2 },
    { around: -1, own: -1, expected: Infinity },
  ])('$own µs of 100 ms in a group of $around µs', async ({ around, own, expected }) => {
    mkdirSync(inner, { recursive: true })
    onTestFinished(() => {
      rmdirSync(inner)
      rmdirSync(outer)
    })
    writeFileSync(`${outer}/cpu.cfs_quota_us`, String(around))
    writeFileSync(`${inner}/cpu.cfs_quota_us`, String(own))
    const all = (await printedAfter('true', CORES)) as number
    expect(await printedAfter(`echo $$ > ${inner}/cgroup.procs`, CORES)).toBe(Math.min(all, expected))
  })

  it.runIf(canMake)('starts one process with a quarter of a core', async () => {
    mkdirSync(outer)
    onTestFinished(() => rmdirSync(outer))
    writeFileSync(`${outer}/cpu.cfs_quota_us`, '25000')
    const auto = `
      import { createClusteredServer } from '${index}'
      const app = '${new URL('../fixtures/apps/hello.ts', import.meta.url).href}'
      const server = await createClusteredServer(app, { workers: 'auto', port: 0, host: '127.0.0.1' })
      const answer = await fetch('http://127.0.0.1:' + server.port)
      console.log(Number(await answer.text()) === process.pid)
      await server.close()
    `
    expect(await printedAfter(`echo $$ > ${outer}/cgroup.procs`, auto)).toBe(true)
  })
})

describe('a memory limit', () => {
  const [, path] =
    /^0::(\/.*)$/m.exec(existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '') ?? []
  const file = ['/sys/fs/cgroup/memory/memory.limit_in_bytes', `/sys/fs/cgroup${path}/memory.max`].find((one) =>
    existsSync(one),
  )
  // A mount of one's own, over the kernel's file, which nobody else sees.
  const namespace = ['unshare', '--map-root-user', '--mount', 'sh', '-c']
  const canMount =
    file !== undefined &&
    spawnSync(namespace[0]!, [...namespace.slice(1), `mount --bind /dev/null ${file}`]).status === 0

  const heapOf = (options: object): string => `
    import { createClusteredServer } from '${index}'
    const app = '${new URL('../fixtures/apps/heap-limit.ts', import.meta.url).href}'
    const options = { workers: 2, port: 0, host: '127.0.0.1', ...${JSON.stringify(options)} }
    const server = await createClusteredServer(app, options)
    const answer = await fetch('http://127.0.0.1:' + server.port)
    console.log(await answer.text())
    await server.close()
  `

  it.runIf(canMount).each([
    { title: 'is shared by the workers', options: {}, heap: ((600 - 64) / 3) * 0.75 },
    { title: 'leaves alone what execArgv says', options: { execArgv: ['--max-old-space-size=999'] }, heap: 999 },
    {
      title: 'leaves alone what NODE_OPTIONS say',
      options: { env: { NODE_OPTIONS: '--max-old-space-size=888' } },
      heap: 888,
    },
  ])('$title', async ({ options, heap }) => {
    const limitFile = join(temporaryDirectory(), 'limit')
    writeFileSync(limitFile, String(600 * MEBIBYTE))
    const shell = `mount --bind ${limitFile} ${file}`
    const { limit } = (await printedAfter(shell, heapOf(options), namespace)) as { limit: number }
    const withoutNew = limit / MEBIBYTE - heap
    // The limit that V8 tells is with the young generation, which is of 48 MB or, where there is more memory, 192 MB.
    expect(withoutNew).toBeGreaterThanOrEqual(0)
    expect(withoutNew).toBeLessThanOrEqual(200)
  })
})
