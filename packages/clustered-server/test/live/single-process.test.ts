import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ClusteredServer, type ClusteredServerOptions, createClusteredServer } from '../../src/index.ts'
import { freePort } from '../helpers/free-port.ts'

const run = promisify(execFile)
const host = '127.0.0.1'
const appAt = (name: string): URL => new URL(`../fixtures/apps/${name}.ts`, import.meta.url)
const hello = appAt('hello')

async function started(app: URL, options: ClusteredServerOptions = {}): Promise<ClusteredServer> {
  const server = await createClusteredServer(app, { workers: 1, port: 0, host, signals: false, ...options })
  onTestFinished(() => server.kill())
  return server
}

async function refused({ port }: ClusteredServer): Promise<string | undefined> {
  return fetch(`http://${host}:${port}`).then(
    () => undefined,
    ({ cause }: { cause: { code: string } }) => cause.code,
  )
}

/** An answer that has begun, and that takes as many milliseconds to end. */
async function begun({ port }: ClusteredServer, milliseconds: number): Promise<IncomingMessage> {
  const asked = get({ host, port, path: `/${milliseconds}` })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return response
}

describe('workers: 1', () => {
  it('runs in this process, without another process or a channel', async () => {
    const script = `
      import { readdirSync, readFileSync } from 'node:fs'
      import { createClusteredServer } from '${new URL('../../src/index.ts', import.meta.url).href}'
      const options = { workers: 1, port: 0, host: '${host}' }
      const server = await createClusteredServer('${hello.href}', options)
      const answer = await fetch('http://${host}:' + server.port)
      const isOwn = Number(await answer.text()) === process.pid
      const parentOf = (pid) => {
        try {
          return Number(readFileSync('/proc/' + pid + '/stat', 'utf8').split(') ')[1].split(' ')[1])
        } catch {}
      }
      const children = readdirSync('/proc').filter((pid) => parentOf(pid) === process.pid)
      const handles = process.getActiveResourcesInfo().filter((name) => /Process|Pipe|Timeout/.test(name))
      console.log(JSON.stringify({ isOwn, children, handles, hasChannel: process.channel !== undefined }))
      await server.close()
    `
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
    // Whoever has run the script reads what it prints through pipes.
    expect(JSON.parse(stdout)).toEqual({
      isOwn: true,
      children: [],
      handles: expect.not.arrayContaining(['ProcessWrap', 'Timeout']),
      hasChannel: false,
    })
  })

  it('has no workers in its status, and rejects reload() and scale()', async () => {
    const server = await started(hello)
    expect(server.status()).toEqual({ ready: true, generation: 1, size: 1, workers: [] })
    expect(server.host).toBe(host)
    const code = 'CLUSTERED_SERVER_SINGLE_PROCESS'
    await expect(server.reload()).rejects.toMatchObject({ code })
    await expect(server.scale(2)).rejects.toMatchObject({ code })
    expect(await (await fetch(`http://${host}:${server.port}`)).text()).toBe(String(process.pid))
  })

  it('close() finishes requests in flight, and accepts no later ones', async () => {
    const server = await started(appAt('slow'))
    const events: string[] = []
    server.on('closing', () => events.push('closing')).on('closed', () => events.push('closed'))
    const response = await begun(server, 300)
    await Promise.all([server.close(), once(response.resume(), 'end')])
    expect(response.complete).toBe(true)
    expect(events).toEqual(['closing', 'closed'])
    expect(await refused(server)).toBe('ECONNREFUSED')
    // Once more is no more.
    await server.close()
    expect(events).toHaveLength(2)
  })

  it('close() aborts requests that exceed drainTimeout', async () => {
    const server = await started(appAt('slow'), { drainTimeout: 200 })
    const response = await begun(server, 60_000)
    await Promise.all([server.close(), once(response.resume(), 'error')])
    expect(response.complete).toBe(false)
  })

  it('kill() aborts all requests immediately', async () => {
    const server = await started(appAt('slow'))
    const response = await begun(server, 60_000)
    const closed = once(server, 'closed')
    const cut = once(response.resume(), 'error')
    server.kill()
    await Promise.all([closed, cut])
    expect(response.complete).toBe(false)
    expect(await refused(server)).toBe('ECONNREFUSED')
    // After it there is nothing left to close.
    await server.close()
  })

  it('serves an app that listens by itself', async () => {
    const port = await freePort()
    const server = await started(appAt('listens-itself'), { port, env: { OWN_PORT: String(port) } })
    expect(server.port).toBe(port)
    expect(await (await fetch(`http://${host}:${port}`)).text()).toBe(String(process.pid))
    await server.close()
    expect(await refused(server)).toBe('ECONNREFUSED')
  })

  it('rejects a module that exports no app', async () => {
    await expect(started(appAt('no-app'))).rejects.toMatchObject({
      code: 'CLUSTERED_SERVER_INVALID_APP',
      message: expect.stringMatching(/no-app\.ts to have a default export .*; got number$/),
    })
  })

  it.each([
    { failure: 'throws', reason: 'The app did not start: the database is not there' },
    { failure: 'hangs', reason: 'The app did not start: it was not loaded within 100 ms' },
  ])('an app that $failure at its start', async ({ failure, reason }) => {
    const app = new URL(`?${failure}`, appAt('failing'))
    await expect(started(app, { startTimeout: 100, env: { FAILURE: failure } })).rejects.toMatchObject({
      code: 'CLUSTERED_SERVER_START_FAILED',
      message: reason,
    })
  })

  it('rejects a port in use', async () => {
    const { port } = await started(hello)
    await expect(started(hello, { port })).rejects.toMatchObject({
      code: 'CLUSTERED_SERVER_CANNOT_LISTEN',
      message: expect.stringContaining(`Cannot listen on ${host}, port ${port}: listen EADDRINUSE`),
    })
  })
})
