import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setTimeout as after } from 'node:timers/promises'
import { describe, expect, it, type TestContext } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../src/index.ts'
import { freePort } from '../helpers/free-port.ts'

const failing = new URL('../fixtures/apps/failing.ts', import.meta.url)
const host = '127.0.0.1'
const common = { workers: 2, host, signals: false } as const

/** Whether a port can be listened on. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, host)
  return once(server, 'listening').then(
    () => Boolean(server.close()),
    () => false,
  )
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A file in which processes write their ids. */
function pidFile({ onTestFinished }: TestContext): { path: string; pids: () => number[] } {
  const directory = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'pids')
  return { path, pids: () => readFileSync(path, 'utf8').trim().split('\n').map(Number) }
}

/** The error of a start. */
async function failureOf(...started: Parameters<typeof createClusteredServer>): Promise<Error> {
  try {
    const server = await createClusteredServer(...started)
    server.kill()
  } catch (error) {
    return error as Error
  }
  throw new Error('the start has not failed')
}

async function answered({ port }: ClusteredServer): Promise<string> {
  return (await fetch(`http://${host}:${port}`)).text()
}

describe('a failed first start names the reason, leaves no process and frees the port', () => {
  it.for([
    { failure: 'throws', reason: 'Error: the database is not there' },
    { failure: 'exits', reason: 'its process ended with code 3' },
    { failure: 'is killed', reason: 'its process ended by SIGKILL' },
    { failure: 'hangs', reason: 'its app was not loaded within 5000 ms' },
  ])('an app that $failure', async ({ failure, reason }, context) => {
    const { path, pids } = pidFile(context)
    const port = await freePort()
    const env = { FAILURE: failure, PIDS: path }
    const started = createClusteredServer(failing, {
      ...common,
      port,
      env,
      startTimeout: failure === 'hangs' ? 5000 : 60_000,
    })
    await context.expect(started).rejects.toMatchObject({
      code: 'CLUSTERED_SERVER_START_FAILED',
      message: expect.stringContaining(reason),
    })
    context.expect(pids().filter(isAlive)).toEqual([])
    context.expect(await isFree(port)).toBe(true)
  })
})

it('reports the workers that a failed start ends as no crash', async () => {
  const exits: object[] = []
  const logger = { info: record, warn: record, error: record }
  function record(fields: object, text: string): void {
    if (/^worker \d ended/.test(text)) exits.push({ text: text.split(': ', 1)[0]!, ...fields })
  }
  const env = { FAILURE: 'one throws' }
  await failureOf(failing, { ...common, port: 0, env, logger })
  expect(exits).toMatchObject([
    { text: 'worker 1 ended unexpectedly with code 1', failure: expect.stringContaining('the database') as unknown },
    { text: 'worker 2 ended by SIGKILL', signal: 'SIGKILL' },
  ])
})

describe.each([1, 2])('the error of a failed start is one line (workers: %i)', (workers) => {
  it.for([
    { path: 'missing.ts', found: (path: string) => `there is no file ${path}` },
    { path: '../apps', found: (path: string) => `${path} is a directory` },
  ])('names the path of an app that is no file: $path', async ({ path, found }) => {
    const app = fileURLToPath(new URL(path, failing))
    const error = await failureOf(app, { ...common, workers, port: 0 })
    expect(error).toMatchObject({
      code: 'CLUSTERED_SERVER_INVALID_APP',
      cause: { code: expect.stringMatching(/^ERR_(MODULE_NOT_FOUND|UNSUPPORTED_DIR_IMPORT)$/) as unknown },
    })
    const text = `Expected the app to be the file of a module, but ${found(app)}: correct the path`
    expect(error.message.replace(/^Worker \d did not start: /, '')).toBe(text)
  })

  it('names the reason, and has the error of the app as its cause', async () => {
    const app = new URL(`?lines-${workers}`, failing)
    const env = { FAILURE: 'throws lines' }
    const error = await failureOf(app, { ...common, workers, port: 0, env })
    expect(error).toMatchObject({
      code: 'CLUSTERED_SERVER_START_FAILED',
      message: expect.stringMatching(
        /^(Worker \d did not start: Error|The app did not start): no database: host: db$/,
      ) as unknown,
      cause: { message: 'no database:\n  host: db\n', code: 'ECONNREFUSED' },
    })
    expect((error.cause as Error).stack).toMatch(/ at .*failing.* \(.*failing\.ts.*:\d+:\d+\)/)
  })
})

describe.concurrent('an app that keeps dying soon after its start', { timeout: 300_000 }, () => {
  it('emits crashLoop, then closes the server and frees the port when no worker is left', async (context) => {
    const { path, pids } = pidFile(context)
    const port = await freePort()
    const env = { FAILURE: 'dies soon', PIDS: path }
    const server = await createClusteredServer(failing, { ...common, port, env })
    context.onTestFinished(() => server.kill())
    const loops: unknown[] = []
    server.on('crashLoop', (event) => loops.push(event))
    await once(server, 'closed')
    context.expect(loops).toEqual([{ deaths: 10, workers: expect.any(Number) }])
    context.expect(server.status().workers).toEqual([])
    context.expect(pids().length).toBeGreaterThanOrEqual(10)
    context.expect(pids().filter(isAlive)).toEqual([])
    context.expect(await isFree(port)).toBe(true)
    await context.expect(server.reload()).rejects.toMatchObject({ code: 'CLUSTERED_SERVER_CLOSED' })
  })

  it('keeps healthy workers, starts no others, and recovers by a reload', async (context) => {
    let failure = ''
    const server = await createClusteredServer(failing, {
      ...{ ...common, port: 0, standby: false },
      env: () => ({ FAILURE: failure }),
    })
    context.onTestFinished(() => server.close())
    const [doomed, living] = server.status().workers
    failure = 'throws'
    let starts = 0
    server.on('workerStart', () => starts++)
    process.kill(doomed!.pid!, 'SIGKILL')
    const [loop] = (await once(server, 'crashLoop')) as unknown[]
    context.expect(loop).toEqual({ deaths: 10, workers: 1 })
    const startsUntilThen = starts
    for (let request = 0; request < 10; request++) context.expect(await answered(server)).toBe(String(living!.pid))
    // The longest delay before was of 12.8 s, and a quarter more.
    await after(17_000)
    context.expect(starts).toBe(startsUntilThen)
    context.expect(server.status().workers).toMatchObject([{ id: living!.id, state: 'active' }])
    failure = ''
    await server.reload()
    const states = (): string[] =>
      server
        .status()
        .workers.map(({ state }) => state)
        .toSorted()
    await context.expect.poll(states, { timeout: 10_000 }).toEqual(['active', 'active'])
    context.expect(server.status().workers.map(({ id }) => id)).not.toContain(living!.id)
  })
})
