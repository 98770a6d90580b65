// The option `linger`: requests that name an older build reach its workers.

import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type ClusteredServer,
  type ClusteredServerOptions,
  createClusteredServer,
  type LingerEndReason,
} from '../../src/index.ts'
import { canCertify, certificate } from '../helpers/certificate.ts'
import { childrenOf, startServer } from '../helpers/running-server.ts'
import { eventually } from '../helpers/eventually.ts'

interface About {
  build: string
  pid: number
  url: string
  streams: number
  rawHeaders: string[]
  remoteAddress: string
  remotePort: number
  encrypted: boolean
}

type Env = Readonly<Record<string, string>>

const HOUR = 3_600_000
const idOf = (generation: number): string => `build${generation}`

/** Starts a server whose build has the id `build1`; each reload deploys the next one. */
async function start(
  options: ClusteredServerOptions = {},
  env: (generation: number) => Env = () => ({}),
): Promise<{ server: ClusteredServer; warnings: string[]; infos: string[] }> {
  const warnings: string[] = []
  const infos: string[] = []
  const at = (lines: string[]) => (_: object, message: string) => void lines.push(message)
  const server = await startServer('builds.ts', {
    linger: { time: HOUR },
    standby: false,
    env: (generation) => ({ BUILD: idOf(generation), ...env(generation) }),
    logger: { info: at(infos), warn: at(warnings), error: at(warnings) },
    ...options,
  })
  return { server, warnings, infos }
}

async function about({ port }: ClusteredServer, build?: string, path = '/'): Promise<About> {
  const headers = { connection: 'close', ...(build !== undefined && { 'x-build': build }) }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  return (await response.json()) as About
}

const buildOf = async (...args: Parameters<typeof about>): Promise<string> => (await about(...args)).build

describe('after a reload', () => {
  let server: ClusteredServer
  const infos: string[] = []
  beforeAll(async () => {
    const ignore = (): void => {}
    server = await createClusteredServer(new URL('../fixtures/apps/builds.ts', import.meta.url), {
      ...{ workers: 2, port: 0, host: '127.0.0.1', signals: false, standby: false, linger: { time: HOUR } },
      env: (generation) => ({ BUILD: idOf(generation) }),
      logger: { info: (_, message) => void infos.push(message), warn: ignore, error: ignore },
    })
    await server.reload()
  })
  afterAll(() => server.close())

  it('serves requests that name the older build by its worker, and all others by the new build', async () => {
    expect(await buildOf(server)).toBe('build2')
    expect(await buildOf(server, 'build1')).toBe('build1')
    expect(await buildOf(server, undefined, '/?a=1&build=build1')).toBe('build1')
    expect(await buildOf(server, 'build2')).toBe('build2')
    for (const id of ['build3', '__proto__', '', '../1.sock', 'x'.repeat(4000)])
      expect(await buildOf(server, id)).toBe('build2')
    const [lingering] = server.status().lingering!
    expect(lingering).toMatchObject({ generation: 1, ids: ['build1'], workers: 1 })
    expect(lingering!.until - lingering!.since).toBe(HOUR)
    expect(infos.some((line) => line.startsWith('generation 1 lingers for 3600 s, until '))).toBe(true)
  })

  it('serves a request for which requestedBy throws', async () => {
    // A retiring worker of the older build may still end.
    const remaining = (): unknown[] =>
      server.status().workers.flatMap(({ pid, state }) => (state === 'retiring' ? [] : [pid]))
    const pids = remaining()
    expect(pids).toHaveLength(3)
    expect(await buildOf(server, 'build1', '//')).toBe('build2')
    expect(await buildOf(server, 'build1')).toBe('build1')
    expect(remaining()).toEqual(pids)
  })

  it('forwards a request unchanged, with the address of the client', async () => {
    const socket = connect(server.port, '127.0.0.1')
    await once(socket, 'connect')
    const headers = ['Host: a', 'X-Build: build1', 'X-TWICE: 1', 'x-twice: 2', 'X-Clustered-Server-Client: {}']
    const hops = ['TE: trailers', 'Connection: close, TE']
    socket.write(`GET /a%2Fb?c=%20&build=build1 HTTP/1.1\r\n${[...headers, ...hops].join('\r\n')}\r\n\r\n`)
    const { localPort } = socket
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    const body = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)
    expect(JSON.parse(body)).toMatchObject({
      ...{ build: 'build1', url: '/a%2Fb?c=%20&build=build1', remoteAddress: '127.0.0.1', remotePort: localPort },
      rawHeaders: [...['Host', 'a', 'X-Build', 'build1', 'X-TWICE', '1', 'x-twice', '2'], ...['connection', 'close']],
    })
    expect(text.match(/^connection: .*$/gim)).toEqual(['Connection: close'])
  })

  it('keeps headers that connection names, such as those of the proxy and the length of the body', async () => {
    const client = 'x-clustered-server-client: {"remoteAddress":"192.0.2.1"}'
    const hidden = `GET /?build=build1 HTTP/1.1\r\n${client}\r\nhost: a\r\n\r\n`
    const headers = ['X-Forwarded-For: 192.0.2.2', `Content-Length: ${hidden.length}`]
    const ask = async (first: string): Promise<{ statuses: unknown; body: string }> => {
      const socket = connect(server.port, '127.0.0.1')
      await once(socket, 'connect')
      const lines = [first, 'Host: a', 'Connection: close, content-length, x-forwarded-for', ...headers]
      socket.write(`${lines.join('\r\n')}\r\n\r\n${hidden}`)
      let text = ''
      for await (const chunk of socket) text += String(chunk)
      return { statuses: text.match(/^HTTP\/1.1 \d+/gm), body: text.slice(text.indexOf('\r\n\r\n')) }
    }
    const asked = await ask('GET /?build=build1 HTTP/1.1')
    expect(asked.statuses).toEqual(['HTTP/1.1 200'])
    const json = asked.body.slice(asked.body.indexOf('{'), asked.body.lastIndexOf('}') + 1)
    expect((JSON.parse(json) as About).rawHeaders).toEqual([
      ...['Host', 'a', 'X-Forwarded-For', '192.0.2.2'],
      ...['Content-Length', `${hidden.length}`, 'connection', 'close'],
    ])
    const sent = await ask('POST /echo?build=build1 HTTP/1.1')
    expect(sent.statuses).toEqual(['HTTP/1.1 201'])
    expect(sent.body).toContain(hidden)
  })

  it('keeps shared caches from storing a response that a header has selected', async () => {
    const ofHeader = await fetch(`http://127.0.0.1:${server.port}/`, { headers: { 'x-build': 'build1' } })
    expect(ofHeader.headers.get('cache-control')).toBe('private, no-store')
    expect(ofHeader.headers.get('vary')).toBe('accept, x-build')
    const ofUrl = await fetch(`http://127.0.0.1:${server.port}/?build=build1`)
    expect(ofUrl.headers.get('cache-control')).toBe('s-maxage=60')
    expect(ofUrl.headers.get('vary')).toBe('accept')
  })

  it('streams bodies in both directions', async () => {
    const sent = request({ port: server.port, method: 'POST', path: '/echo?build=build1' })
    sent.write('first')
    const [response] = await once(sent, 'response')
    expect([response.statusCode, response.statusMessage]).toEqual([201, 'Made'])
    expect(response.headers).toMatchObject({ 'x-build': 'build1', 'set-cookie': ['a=1', 'b=2'] })
    const [first] = await once(response, 'data')
    expect(String(first)).toBe('first')
    sent.end('last')
    let rest = ''
    for await (const chunk of response) rest += String(chunk)
    expect(rest).toBe('last')
    const empty = await fetch(`http://127.0.0.1:${server.port}/echo?build=build1`, { method: 'POST' })
    expect([empty.status, await empty.text()]).toEqual([201, ''])
  })

  it('passes an abort of the client on', async () => {
    const streams = async (): Promise<number> => (await about(server, 'build1')).streams
    const controller = new AbortController()
    const response = await fetch(`http://127.0.0.1:${server.port}/endless?build=build1`, { signal: controller.signal })
    const { value } = await response.body!.getReader().read()
    expect(Buffer.from(value as Uint8Array).toString()).toBe('build1\n')
    expect(await streams()).toBe(1)
    controller.abort()
    await expect.poll(streams).toBe(0)
  })
})

describe.runIf(canCertify)('over TLS', () => {
  let server: ClusteredServer
  beforeAll(async () => {
    server = await createClusteredServer(new URL('../fixtures/apps/builds.ts', import.meta.url), {
      ...{ workers: 2, port: 0, host: '127.0.0.1', signals: false, standby: false, linger: { time: HOUR } },
      env: (generation) => ({ BUILD: idOf(generation), ...certificate() }),
    })
    await server.reload()
  })
  afterAll(() => server.close())

  /** Sends a request, and returns the port of its client with the response. */
  async function ask(
    path: string,
    { body, build }: { body?: string[]; build?: string } = {},
  ): Promise<readonly [text: string, localPort: number | undefined, headers: Readonly<Record<string, unknown>>]> {
    const sent = secureRequest({
      ...{ host: '127.0.0.1', port: server.port, path, rejectUnauthorized: false, agent: false },
      method: body === undefined ? 'GET' : 'POST',
      headers: build === undefined ? {} : { 'x-build': build },
    })
    for (const chunk of body ?? []) sent.write(chunk)
    sent.end()
    const [response] = await once(sent, 'response')
    const { localPort } = sent.socket!
    let text = ''
    for await (const chunk of response) text += String(chunk)
    return [text, localPort, response.headers]
  }

  it('serves requests by the build that they name, with the address of the client and its encryption', async () => {
    for (const [path, build, expected] of [
      ['/', undefined, 'build2'],
      ['/', 'build1', 'build1'],
      ['/?build=build1', undefined, 'build1'],
      ['/', 'build3', 'build2'],
    ] as const) {
      const [text, localPort] = await ask(path, build === undefined ? {} : { build })
      expect(JSON.parse(text)).toMatchObject({ build: expected, encrypted: true, remotePort: localPort })
    }
  })

  it('streams bodies, and keeps shared caches from storing what a header has selected', async () => {
    const [text, , headers] = await ask('/echo', { build: 'build1', body: ['first', ' last'] })
    expect(text).toBe('first last')
    expect(headers).toMatchObject({ 'x-build': 'build1', 'cache-control': 'private, no-store', vary: 'x-build' })
  })
})

it('serves a WebSocket that names the older build by the new one', async () => {
  const { server } = await start()
  await server.reload()
  for (const path of ['/', '/?build=build1']) {
    const sent = request({ port: server.port, path, headers: { connection: 'upgrade', upgrade: 'test' } })
    sent.setHeader('x-build', 'build1')
    sent.end()
    const [, socket, head] = await once(sent, 'upgrade')
    let text = String(head)
    for await (const chunk of socket) text += String(chunk)
    expect(text).toBe('build2')
  }
})

it('keeps as many workers of the older build as the option says', async () => {
  const { server } = await start({ linger: { time: HOUR, workers: 2 } })
  await server.reload()
  const pids = new Set<number>()
  await expect.poll(async () => pids.add((await about(server, 'build1')).pid).size).toBe(2)
  expect(server.status().lingering).toMatchObject([{ generation: 1, workers: 2 }])
})

it('serves each request by the build that it names while workers are replaced', async () => {
  const { server } = await start({}, (generation) => (generation === 1 ? {} : { LOAD_MS: '700' }))
  const reloaded = server.reload()
  const active = (): number[] =>
    server
      .status()
      .workers.filter(({ state }) => state === 'active')
      .map(({ generation }) => generation)
  await eventually(() =>
    active()
      .toSorted((a, b) => a - b)
      .join() === '1,2'
      ? true
      : undefined,
  )
  do {
    const builds = ['build1', 'build2', 'build1', 'build2', 'build1', 'build2']
    // At the same time, so that both workers accept some.
    expect(await Promise.all(builds.map((build) => buildOf(server, build)))).toEqual(builds)
  } while (active().includes(1))
  await reloaded
})

describe('an older build is served no longer', () => {
  const ended = async (server: ClusteredServer): Promise<{ generation: number; reason: LingerEndReason }> => {
    const [end] = await once(server, 'lingerEnd')
    return end
  }

  it('when its time is over, whatever is requested', async () => {
    const { server } = await start({ linger: { time: 1500 } })
    const end = ended(server)
    await server.reload()
    const { pid } = await about(server, 'build1')
    while (server.status().lingering?.length === 1) await about(server, 'build1')
    expect(await end).toEqual({ generation: 1, reason: 'time' })
    await expect.poll(() => buildOf(server, 'build1')).toBe('build2')
    await expect.poll(() => childrenOf(process.pid)).not.toContain(pid)
    expect(server.status().lingering).toEqual([])
  })

  it('when newer builds take its place', async () => {
    const { server } = await start({ linger: { time: HOUR, builds: 1 } })
    await server.reload()
    const end = ended(server)
    await server.reload()
    expect(await end).toEqual({ generation: 1, reason: 'builds' })
    expect(server.status().lingering).toMatchObject([{ generation: 2 }])
    await expect.poll(() => buildOf(server, 'build1')).toBe('build3')
    expect(await buildOf(server, 'build2')).toBe('build2')
  })

  it('when its worker dies: the new build serves its requests', async () => {
    const { server, warnings } = await start()
    await server.reload()
    const end = ended(server)
    const lost = await fetch(`http://127.0.0.1:${server.port}/die?build=build1`, { method: 'POST', body: 'a' })
    expect(lost.status).toBe(502)
    expect(await end).toEqual({ generation: 1, reason: 'died' })
    expect(await buildOf(server, 'build1')).toBe('build2')
    expect(warnings).toContain('generation 1 no longer lingers: its workers have died')
    // The dead one is listed until its exit is known.
    await expect
      .poll(() => server.status().workers.map(({ generation }) => generation), { timeout: 10_000 })
      .toEqual([2, 2])
  })

  it('when the server closes, and its private sockets are removed', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'linger-'))
    vi.stubEnv('CLUSTERED_SERVER_RUNTIME_DIR', directory)
    onTestFinished(() => {
      vi.unstubAllEnvs()
      rmSync(directory, { recursive: true })
    })
    const { server } = await start()
    await server.reload()
    const end = ended(server)
    const [folder] = readdirSync(directory)
    expect(statSync(join(directory, folder!)).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(directory, folder!)).length).toBeGreaterThan(0)
    await server.close()
    expect(await end).toEqual({ generation: 1, reason: 'closing' })
    expect(readdirSync(directory)).toEqual([])
  })
})

describe('the log', () => {
  it.each([
    ['names no build', '-'],
    ['has an empty id', ''],
  ])('warns of an app that %s', async (_, BUILD) => {
    const { server, warnings } = await start({}, () => ({ BUILD }))
    expect(warnings).toEqual([
      'the option "linger" has no effect, because the app names no build: see its warnings, or call identifyBuild() with an id before it has loaded',
    ])
    await server.reload()
    expect(server.status().lingering).toEqual([])
  })

  it('warns of a build that was replaced in its folder', async () => {
    const { server, warnings } = await start({}, () => ({ FOLDER: '/app/.next' }))
    await server.reload()
    expect(warnings).toEqual([
      'generation 1 cannot linger, because a newer build has replaced it in /app/.next: deploy each build to a folder of its own',
    ])
    expect(server.status().lingering).toEqual([])
  })

  it('warns of two builds in different folders with the same id', async () => {
    const { server, warnings } = await start({}, (generation) => ({ BUILD: 'same', FOLDER: `/app/${generation}` }))
    await server.reload()
    expect(warnings).toEqual(['generation 1 cannot linger, because a newer build also has the id "same"'])
    expect(server.status().lingering).toEqual([])
  })

  it('warns of an id that two builds share', async () => {
    const { server, warnings } = await start({}, () => ({ SHARED_ID: 'same' }))
    await server.reload()
    expect(warnings).toEqual(['a newer build also has the id "same": requests with it do not reach generation 1'])
    expect(await buildOf(server, 'same')).toBe('build2')
    expect(await buildOf(server, 'build1')).toBe('build1')
  })

  it('warns of one process, which cannot be reloaded', async () => {
    const { warnings } = await start({ workers: 1 })
    expect(warnings).toEqual([
      'the option "linger" has no effect with one process, which cannot be reloaded: set "workers" to 2 or more',
    ])
  })
})

it('rejects an HTTP/2 server, whose requests cannot be forwarded', async () => {
  const started = startServer('http2.ts', { linger: { time: HOUR } })
  await expect(started).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_INVALID_APP',
    message: expect.stringContaining('The option "linger" needs an HTTP/1 server') as string,
  })
})

it('retires the workers of a build that is deployed again', async () => {
  const { server, warnings } = await start({}, () => ({ BUILD: 'same' }))
  await server.reload()
  expect(server.status().lingering).toEqual([])
  expect(warnings).toEqual([])
})
