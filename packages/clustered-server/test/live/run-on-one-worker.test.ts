import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { freePort } from '../helpers/free-port.ts'

const onlyOne = new URL('../fixtures/apps/only-one.ts', import.meta.url)

let folder: string
let env: { LOG: string; LOCK_PORT: string }
let server: ClusteredServer | undefined
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  env = { LOG: join(folder, 'log'), LOCK_PORT: String(await freePort()) }
  writeFileSync(env.LOG, '')
})
afterEach(async () => {
  await server?.close()
  server = undefined
  rmSync(folder, { recursive: true })
})

/** Who has the port that only one can have. */
async function leader(): Promise<number | undefined> {
  try {
    const text = await connect(Number(env.LOCK_PORT), '127.0.0.1').setEncoding('utf8').toArray()
    return Number(text.join('')) || undefined
  } catch {
    return undefined
  }
}

/** Lines of the log, by word and process id. */
function log(): [string, number][] {
  const lines = readFileSync(env.LOG, 'utf8').trimEnd().split('\n')
  return lines.map((line) => [line.split(' ')[0]!, Number(line.split(' ')[1])])
}

/** Who began while another one was at it, or ended without having begun: those that are killed do not say that they end. */
function overlaps(killed: readonly number[]): number[] {
  const found: number[] = []
  let running: number | undefined
  for (const [word, pid] of log()) {
    const isRight = word === 'start' ? running === undefined || killed.includes(running) : pid === running
    if (!isRight) found.push(pid)
    running = word === 'start' ? pid : undefined
  }
  return found
}

it('exactly one worker runs the task over reloads and deaths', async () => {
  server = await createClusteredServer(onlyOne, { workers: 3, port: 0, host: '127.0.0.1', signals: false, env })
  // Two at a time would end a process by what the second one throws.
  const deaths: (number | undefined)[] = []
  server.on('workerExit', ({ pid, expected }) => {
    if (!expected) deaths.push(pid)
  })
  const killed: number[] = []
  for (let round = 0; round < 4; round++) {
    await server.reload()
    // One that leaves may have it for a moment.
    const active = server.status().workers.filter(({ state }) => state === 'active')
    const pid = await eventually(async () => {
      const now = await leader()
      return active.some((worker) => worker.pid === now) ? now : undefined
    })
    killed.push(pid)
    process.kill(pid, 'SIGKILL')
    const next = await eventually(async () => {
      const now = await leader()
      return now === pid ? undefined : now
    })
    expect(server.status().workers.map((worker) => worker.pid)).toContain(next)
    // Deaths in a row make the next start late: let there be enough to reload.
    await eventually(() => server!.status().workers.filter(({ state }) => state === 'active').length === 3 || undefined)
  }
  await server.close()
  expect(deaths).toEqual(killed)
  expect(overlaps(killed)).toEqual([])
  // The first one, and after it one for each reload and each death, but where a reload had a new one stay.
  expect(log().filter(([word]) => word === 'start').length).toBeGreaterThan(4)
})

it('runs immediately with one process, and ends before close() resolves', async () => {
  Object.assign(process.env, env)
  server = await createClusteredServer(onlyOne, { workers: 1, port: 0, host: '127.0.0.1', signals: false, env })
  expect(await eventually(leader)).toBe(process.pid)
  await server.close()
  expect(log()).toEqual([
    ['start', process.pid],
    ['end', process.pid],
  ])
})

it('runs immediately without a clustered server, also in a child of a worker', async () => {
  const program = `import { default as app } from ${JSON.stringify(onlyOne.href)}; app().listen(0, '127.0.0.1')`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    // As the worker's own environment is.
    env: { ...process.env, ...env, CLUSTERED_SERVER_WORKER: '1', CLUSTERED_SERVER_PRIMARY: String(process.ppid) },
  })
  try {
    expect(await eventually(leader)).toBe(child.pid)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
})
