// No value of a client reaches another path, whatever server stands behind the gateway and however it reads paths.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { requireProgram } from '@test/required-program'
import express from 'express'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAggregatorGateway } from '../../src/index.ts'

/** A server, and the paths that it has reached: as it resolves them itself. */
interface Server {
  readonly origin: string
  readonly reached: () => readonly string[]
  readonly close: () => Promise<unknown> | void
}

const folder = mkdtempSync(join(tmpdir(), 'reached-paths-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function nodeServer(listener: RequestListener): Promise<{ origin: string; close: () => void }> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}

/** A server that resolves the path of a request by a function. */
async function resolving(resolve: (path: string) => string): Promise<Server> {
  const reached: string[] = []
  const { origin, close } = await nodeServer(({ url = '' }, response) => {
    reached.push(resolve(url.split('?', 1)[0]!))
    response.setHeader('content-type', 'application/json').end('"here"')
  })
  return { origin, reached: () => reached, close }
}

/** Starts a program that listens on a port, and waits until it does. */
async function program(name: string, args: readonly string[], port: number): Promise<() => Promise<unknown>> {
  const child = spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${name} has exited: ${stderr}`)
  })
  exited.catch(() => {})
  const answers = vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), { timeout: 15_000, interval: 50 })
  await Promise.race([answers, exited])
  return async () => {
    child.kill('SIGTERM')
    await exited.catch(() => {})
  }
}

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const SERVERS: Readonly<Record<string, () => Promise<Server>>> = {
  async nginx() {
    const port = await freePort()
    const [config, log] = [join(folder, 'nginx.conf'), join(folder, 'reached.log')]
    writeFileSync(
      config,
      `daemon off; pid ${folder}/nginx.pid; error_log stderr;
events {}
http {
  log_format reached '$uri';
  access_log ${log} reached;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`).join(' ')}
  server { listen 127.0.0.1:${port}; location / { default_type application/json; return 200 '"here"'; } }
}
`,
    )
    const close = await program('nginx', ['-c', config, '-e', 'stderr'], port)
    return {
      origin: `http://127.0.0.1:${port}`,
      reached: () =>
        readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => line !== '' && line !== '/'),
      close,
    }
  },

  async HAProxy() {
    const [port, behind] = [await freePort(), await resolving((path) => path)]
    const config = join(folder, 'haproxy.cfg')
    writeFileSync(
      config,
      `global
  expose-experimental-directives
defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend public
  bind 127.0.0.1:${port}
  http-request normalize-uri percent-decode-unreserved
  http-request normalize-uri path-merge-slashes
  http-request normalize-uri path-strip-dot
  http-request normalize-uri path-strip-dotdot full
  default_backend behind
backend behind
  server one ${behind.origin.slice(7)}
`,
    )
    const close = await program('haproxy', ['-db', '-f', config], port)
    return {
      origin: `http://127.0.0.1:${port}`,
      reached: () => behind.reached().filter((path) => path !== '/'),
      close: async () => {
        await close()
        await behind.close()
      },
    }
  },

  // As many servers of files do: decode, then resolve.
  'node:http': () => resolving((path) => posix.normalize(decoded(path))),

  'node:http with URL': () => resolving((path) => new URL(path, 'http://localhost').pathname),

  async Express() {
    const reached: string[] = []
    const app = express()
    app.get('/public/:id', (request, response) => {
      reached.push(posix.normalize(`/public/${request.params.id}`))
      response.json('here')
    })
    app.use((request, response) => {
      reached.push(posix.normalize(decoded(request.path)))
      response.status(404).json('elsewhere')
    })
    const { origin, close } = await nodeServer(app)
    return { origin, reached: () => reached, close }
  },

  async Fastify() {
    const reached: string[] = []
    const app = Fastify({ routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true } })
    app.get<{ Params: { '*': string } }>('/public/*', async ({ params }) => {
      reached.push(posix.normalize(`/public/${params['*']}`))
      return '"here"'
    })
    app.setNotFoundHandler(async ({ url }) => {
      reached.push(posix.normalize(decoded(url)))
      return '"elsewhere"'
    })
    return {
      origin: await app.listen({ host: '127.0.0.1', port: 0 }),
      reached: () => reached,
      close: () => app.close(),
    }
  },

  // Parameters of segments go first, then escapes, `\\` is a separator: the order of Tomcat and Jetty, twice.
  'a servlet container that decodes twice': () =>
    resolving((path) => {
      const resolve = (one: string): string =>
        posix.normalize(
          decoded(one.replaceAll(/;[^/]*/g, ''))
            .replaceAll('\\', '/')
            .replaceAll(/;[^/]*/g, ''),
        )
      // oxlint-disable-next-line no-control-regex -- Some servers drop them.
      return resolve(resolve(path)).replaceAll(/[\u0000-\u0020]/g, '')
    }),
}

const DOTS = [
  ...[
    '..',
    '.',
    '%2e%2e',
    '.%2E',
    '%252e%252e',
    '%25252e%25252e',
    '%c0%ae%c0%ae',
    '%25c0%25ae%25c0%25ae',
    '%u002e%u002e',
  ],
  ...['%EF%BC%8E%EF%BC%8E', '..;', '..;a=b', '..%00', '..%09', '..%20', '..%3b', '..%253b', '..%0d%0a', '...', '....'],
]
const SEPARATORS = [
  ...[
    '%2f',
    '%5c',
    '%252f',
    '%255c',
    '%25252f',
    '%c0%af',
    '%u002f',
    '%EF%BC%8F',
    '%2f%2f',
    ';%2f',
    '%2f.%2f',
    '%2f%5c',
    '/',
  ],
]
const PAYLOADS = [
  ...DOTS,
  ...DOTS.flatMap((dots) =>
    SEPARATORS.flatMap((separator) => [
      `${dots}${separator}secret`,
      `a${separator}${dots}${separator}${dots}${separator}secret`,
    ]),
  ),
]
const HARMLESS = ['a', 'a.b', '%C3%A9', 'a%20b', '100%25', 'a;b=c', '4711']

async function statusOf(origin: string, path: string): Promise<number> {
  const { hostname, port } = new URL(origin)
  const [response] = (await once(get({ hostname, port, path }), 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode!
}

const hasNginx = requireProgram('nginx', 'nginx')
const hasHaproxy = requireProgram('haproxy', 'haproxy')
const names = Object.keys(SERVERS).filter(
  (name) => (hasNginx || name !== 'nginx') && (hasHaproxy || name !== 'HAProxy'),
)

describe.each(names)('behind the gateway: %s', (name) => {
  let server: Server
  beforeAll(async () => {
    server = await SERVERS[name]!()
    return () => server.close()
  })

  it.each([false, true])(
    'is reached below the prefix only, with `allowEncodedSlash: %s`',
    { timeout: 60_000 },
    async (allowEncodedSlash) => {
      expect(PAYLOADS.length).toBeGreaterThan(200)
      const call = { upstream: 'it', path: '/public/{params.id}', allowEncodedSlash }
      const app = await createAggregatorGateway({
        // A payload that the server refuses is no reason to stop.
        upstreams: { it: { origin: server.origin, circuitBreaker: false } },
        endpoints: [
          { path: '/users/:id', passThrough: call },
          { path: '/calls/:id', calls: { one: call } },
        ],
        fastify: { routerOptions: { maxParamLength: 1000 } },
      })
      const gateway = await app.listen({ host: '127.0.0.1', port: 0 })
      const before = server.reached().length
      const statuses = { passed: 0, refused: 0 }
      for (const payload of PAYLOADS) {
        for (const prefix of ['/users/', '/calls/']) {
          const status = await statusOf(gateway, prefix + payload)
          statuses[status < 400 ? 'passed' : 'refused']++
        }
      }
      const after = server.reached().length
      expect(
        server
          .reached()
          .slice(before)
          .filter((path) => !/^\/public\/[^/]/.test(path)),
      ).toEqual([])
      expect(statuses.refused).toBeGreaterThan(200)
      for (const value of HARMLESS) expect(await statusOf(gateway, `/users/${value}`)).toBe(200)
      // Requests do reach the server.
      await expect.poll(() => server.reached().length).toBe(after + HARMLESS.length)
      await app.close()
    },
  )
})

it.runIf(hasNginx)('nginx resolves what a gateway must not send', async () => {
  const server = await SERVERS['nginx']!()
  const before = server.reached().length
  await statusOf(server.origin, '/public/..%2fsecret')
  await expect.poll(() => server.reached().slice(before)).toEqual(['/secret'])
  await server.close()
})
