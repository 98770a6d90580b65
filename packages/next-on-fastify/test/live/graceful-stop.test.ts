import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { CreateNextOnFastifyOptions } from 'next-on-fastify'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

const PROGRAM = fileURLToPath(new URL('../fixtures/servers/stopping.ts', import.meta.url))

let dir: string
beforeAll(async () => {
  dir = await builtFixture('newest')
}, BUILD_TIMEOUT)

let child: ChildProcess | undefined
const agent = new Agent({ keepAlive: true })
afterEach(() => {
  child?.kill('SIGKILL')
  agent.destroy()
})

interface Stopping {
  readonly child: ChildProcess
  readonly origin: string
  /** The exit code and the signal, and what was printed. */
  readonly ended: Promise<{ code: number | null; signal: string | null; printed: string }>
}

async function start(options: Partial<CreateNextOnFastifyOptions> = {}, how = 'factory'): Promise<Stopping> {
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    OPTIONS: JSON.stringify({ dir, ...options }),
    WITH: how,
  }
  const started = fork(PROGRAM, { env, execArgv: [], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  child = started
  let printed = ''
  started.stdout!.setEncoding('utf8').on('data', (text: string) => void (printed += text))
  const ended = once(started, 'close').then(([code, signal]: unknown[]) => ({
    code: code as number | null,
    signal: signal as string | null,
    printed,
  }))
  const [origin] = (await once(started, 'message')) as [string]
  return { child: started, origin, ended }
}

/** Asks over a connection that is kept alive, and returns once the response has begun. */
async function begun(url: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]
  return response
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += String(part)
  return text
}

it.each(['SIGTERM', 'SIGINT'] as const)('finishes streams and after() on %s, and exits with 0', async (signal) => {
  const { child: server, origin, ended } = await start()
  // A connection that is idle, and one of a stream.
  await textOf(await begun(`${origin}/static`))
  const answered = await textOf(await begun(`${origin}/after`))
  const stream = await begun(`${origin}/stream?parts=5`)
  server.kill(signal)
  expect([answered, await textOf(stream)]).toEqual(['answered', expect.stringMatching(/part 4\n$/)])
  expect(await ended).toMatchObject({ code: 0, printed: expect.stringContaining('after() is done: true') })
})

it('closes connections of endless streams after the timeout, and exits with 0', async () => {
  const { child: server, origin, ended } = await start({ gracefulStop: { timeout: 300 } })
  const stream = await begun(`${origin}/stream?parts=100000`)
  server.kill('SIGTERM')
  await expect(textOf(stream)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(await ended).toMatchObject({ code: 0 })
})

it('exits with 1 where the app does not close', async () => {
  const { child: server, ended } = await start({ gracefulStop: { timeout: 0 } }, 'hook that hangs')
  server.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 1 })
})

it('exits at once on a second signal', async () => {
  const { child: server, origin, ended } = await start({ gracefulStop: { timeout: 3_600_000 } })
  const stream = await begun(`${origin}/stream?parts=100000`)
  stream.on('error', () => undefined)
  server.kill('SIGTERM')
  // It does not accept connections any more.
  const isOpen = async (): Promise<boolean> =>
    fetch(`${origin}/static`, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    )
  await expect.poll(isOpen).toBe(false)
  server.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 143 })
})

it('leaves a signal to another listener of the process', async () => {
  const { child: server, origin, ended } = await start({}, 'listener')
  server.kill('SIGTERM')
  expect((await once(server, 'message'))[0]).toBe('left to the listener')
  expect((await fetch(`${origin}/static`)).status).toBe(200)
  server.kill('SIGKILL')
  await ended
})

it.each([
  ['with `gracefulStop: false`', { gracefulStop: false }, 'factory'],
  ['in an app that has the plugin', {}, 'plugin'],
  ['in `dev`', { dev: true }, 'factory'],
] as const)('leaves signals to Node %s', async (_, options, how) => {
  const { child: server, ended } = await start(options, how)
  server.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM' })
})
