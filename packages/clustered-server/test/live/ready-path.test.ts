import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { canCertify, certificate } from '../helpers/certificate.ts'
import { appPath, Command } from '../helpers/command.ts'
import { freePort } from '../helpers/free-port.ts'
import { settled, startServer } from '../helpers/running-server.ts'

const readyPath = '/ready'
const NOT_READY = 'GET /ready responded 503, expected a status below 500'

interface Said {
  pid: number
  asked: number
}
const ask = async (port: number): Promise<Said> =>
  (await (await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })).json()) as Said

describe.each([1, 2])('a start with %i workers', (workers) => {
  it.each([200, 302, 404, 499])('requests the path once, and accepts status %i', async (status) => {
    const server = await startServer('readiness.ts', { workers, readyPath, env: { READY: String(status) } })
    const { asked } = await ask(server.port)
    expect(asked).toBe(1)
  })

  it.each([
    ['503', NOT_READY],
    ['500', 'GET /ready responded 500, expected a status below 500'],
    ['cut', 'GET /ready failed: socket hang up'],
  ])('fails when the app responds with %s', async (ready, why) => {
    const started = startServer('readiness.ts', { workers, readyPath, env: { READY: ready } })
    await expect(started).rejects.toMatchObject({
      code: 'CLUSTERED_SERVER_START_FAILED',
      message: expect.stringMatching(
        new RegExp(`^(Worker \\d did not start|The app did not start): ${why}$`),
      ) as string,
    })
  })

  it('exits with 1 and one line', async () => {
    const args = ['--workers', String(workers), '--port', '0', '--ready-path', readyPath]
    const command = new Command([appPath('readiness'), ...args], { READY: '503' })
    onTestFinished(() => command.end())
    expect(await command.exit).toBe(1)
    const lines = command.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^clustered-server: .* did not start: ${NOT_READY}$`))])
  })
})

const secure = canCertify ? ['https', 'secure http2', 'secure http2 and http'] : []

it.each(['http', 'http2', 'listens by itself', ...secure])(
  'requests the path from a server of the kind %s',
  async (kind) => {
    const env = { ...(secure.includes(kind) && certificate()), KIND: kind }
    const server = await startServer('readiness.ts', {
      readyPath,
      port: await freePort(),
      env: { ...env, READY: '204' },
    })
    expect(server.status().ready).toBe(true)
    const options = { readyPath, port: await freePort(), env: { ...env, READY: '503' } }
    await expect(startServer('readiness.ts', options)).rejects.toThrow(NOT_READY)
  },
)

it.each([
  ['503', NOT_READY],
  ['silence', 'its app did not respond to GET /ready within 5000 ms'],
  ['the end', 'its process ended with code 5 during GET /ready'],
])('a reload fails when the new version responds with %s, and the old one keeps running', async (ready, why) => {
  const versions = { READY: '200' }
  const server = await startServer('readiness.ts', { readyPath, startTimeout: 5000, env: () => ({ ...versions }) })
  await settled(server)
  const pids = server.status().workers.map(({ pid }) => pid)
  versions.READY = ready
  const failed = once(server, 'reloadFailed')
  await expect(server.reload()).rejects.toMatchObject({ code: 'CLUSTERED_SERVER_RELOAD_FAILED' })
  const [{ error }] = (await failed) as [{ error: Error }]
  expect(error.message).toMatch(
    new RegExp(`^The new version did not start, the old one keeps running: Worker \\d did not start: ${why}$`),
  )
  expect(server.status().workers.map(({ pid }) => pid)).toEqual(pids)
  expect(pids).toContain((await ask(server.port)).pid)
  versions.READY = '200'
  await server.reload()
  expect(pids).not.toContain((await ask(server.port)).pid)
})

it('a plugin that looks like a request listener does not start', async () => {
  const started = startServer('unmarked-plugin.ts', { readyPath: '/' })
  await expect(started).rejects.toThrow('its process ended with code 1 during GET /')
})

it('a worker that is not ready never becomes the standby worker, and its exit has the reason', async () => {
  const states = ['200', '200', '503', '200']
  let starts = 0
  const server = await startServer('readiness.ts', { readyPath, env: () => ({ READY: states[starts++] ?? '200' }) })
  const [exit] = (await once(server, 'workerExit')) as [object]
  expect(exit).toMatchObject({ id: 3, expected: false, failure: NOT_READY })
  await settled(server)
  expect(server.status().workers.map(({ id }) => id)).toEqual([1, 2, 4])
})

it('does not count its own request', async () => {
  const server = await startServer('readiness.ts', { readyPath, standby: false, env: { READY: '200' } })
  // Figures are told a few times a second.
  await wait(300)
  expect(server.status().workers).toMatchObject([
    { requests: 0, connections: 0 },
    { requests: 0, connections: 0 },
  ])
})
