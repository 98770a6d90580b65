import { type AddressInfo, connect } from 'node:net'
import { once } from 'node:events'
import { get } from 'node:http'
import websocket from '@fastify/websocket'
import Fastify, { type FastifyInstance } from 'fastify'
import { nextPlugin } from 'next-on-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { standInApp } from '../../helpers/stand-in.ts'

/** What a request for an upgrade is answered with, first line and all that comes at once. */
async function upgrade(app: FastifyInstance, path: string, headers = ''): Promise<string> {
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  const handshake = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n'
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n${handshake}${headers}\r\n`,
  )
  return new Promise((resolve, reject) => {
    socket.once('data', resolve).once('close', () => reject(new Error('closed')))
  })
}

async function listening(...add: ((app: FastifyInstance) => unknown)[]): Promise<FastifyInstance> {
  const app = Fastify()
  onTestFinished(() => app.close())
  for (const one of add) await one(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

const next =
  (options: object = {}) =>
  (app: FastifyInstance): unknown =>
    app.register(nextPlugin, { dir: standInApp(), dev: true, ...options })

const sockets = async (app: FastifyInstance): Promise<void> => {
  await app.register(websocket)
  app.get('/own', { websocket: true }, (socket) => socket.send('own'))
}

describe('a socket that asks for an upgrade', () => {
  it('goes to Next in dev', async () => {
    const app = await listening(next())
    expect(await upgrade(app, '/_next/hmr')).toMatch(/^HTTP\/1.1 101 Next/)
  })

  it('gets a 426 in production at once, with a line in the log, unless `upgrades` is on', async () => {
    const dir = standInApp()
    const logged: string[] = []
    const logger = { level: 'warn', stream: { write: (line: string) => void logged.push(line) } }
    const app = Fastify({ logger })
    onTestFinished(() => app.close())
    await next({ dir, dev: false })(app)
    await app.listen({ host: '127.0.0.1', port: 0 })
    expect(await upgrade(app, '/proxied')).toMatch(/^HTTP\/1.1 426 Upgrade Required/)
    expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({
        url: '/proxied',
        msg: 'WebSocket rejected: set "upgrades" to true to pass WebSockets to Next',
      }),
    ])
    const proxying = await listening(next({ dir, dev: false, upgrades: true }))
    expect(await upgrade(proxying, '/proxied')).toMatch(/^HTTP\/1.1 101 Next/)
  })

  it.each([
    [true, ['upgrades disabled for this Next app: its Next has no "upgradeHandler"']],
    [false, []],
  ])(
    'gets a 426 if its Next has no handler, with a warning at start for `upgrades: %s`',
    async (upgrades, warnings) => {
      const dir = standInApp({ name: 'without-upgrades' })
      const logged: string[] = []
      const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void logged.push(line) } } })
      onTestFinished(() => app.close())
      await next({ dir, dev: false, upgrades })(app)
      expect(logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(warnings)
      await app.listen({ host: '127.0.0.1', port: 0 })
      expect(await upgrade(app, '/proxied')).toMatch(/^HTTP\/1.1 426 Upgrade Required/)
    },
  )

  it.each([
    ['for another protocol', { connection: 'upgrade', upgrade: 'h2c' }],
    ['without `Connection: upgrade`', { connection: 'close', upgrade: 'websocket' }],
  ])('%s is served as without it', async (_, headers) => {
    const app = await listening(next({ dev: false }))
    const { port } = app.server.address() as AddressInfo
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    get({ port, path: '/page', headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    expect(await promise).toBe(200)
  })

  it('that Next passes to another server is left open until that responds', async () => {
    const app = await listening(next({ dev: false, upgrades: true }))
    expect(await upgrade(app, '/nobody/late')).toMatch(/^HTTP\/1.1 101 Late/)
  })

  it('goes to Next under its prefix alone', async () => {
    const dir = standInApp()
    const app = await listening(next({ dir, prefix: '/a' }), next({ dir, prefix: '/b' }))
    expect(await upgrade(app, '/b/_next/hmr')).toMatch(/^HTTP\/1.1 101 Next/)
    expect(await upgrade(app, '/c/_next/hmr')).toMatch(/^HTTP\/1.1 404/)
  })

  it('passes the hooks of the app', async () => {
    const app = await listening(next(), (one) =>
      one.addHook('onRequest', async (_request, reply) => reply.code(401).send('who are you')),
    )
    const answer = await upgrade(app, '/_next/hmr')
    expect(answer).toMatch(/^HTTP\/1.1 401/)
    expect(answer).toContain('who are you')
  })

  it('gets a 404 and is closed if Next has no handler for it', async () => {
    const app = await listening(next())
    expect(await upgrade(app, '/nobody')).toMatch(/^HTTP\/1.1 404/)
  })

  it.each([
    ['before', [sockets, next()]],
    ['after', [next(), sockets]],
  ])('goes to a route of @fastify/websocket, registered %s Next, or to Next', async (_when, plugins) => {
    const app = await listening(...plugins)
    const { port } = app.server.address() as AddressInfo
    const own = new WebSocket(`ws://127.0.0.1:${port}/own`)
    const [message] = (await once(own, 'message')) as [Buffer]
    expect(message.toString()).toBe('own')
    own.close()
    expect(await upgrade(app, '/_next/hmr')).toMatch(/^HTTP\/1.1 101 Next/)
    expect((await app.inject('/own')).statusCode).toBe(404)
    expect((await app.inject('/page')).json()).toMatchObject({ url: '/page' })
  })

  it('goes to a route of @fastify/websocket in production too', async () => {
    const app = await listening(sockets, next({ dev: false }))
    const own = new WebSocket(`ws://127.0.0.1:${(app.server.address() as AddressInfo).port}/own`)
    const [message] = (await once(own, 'message')) as [Buffer]
    expect(message.toString()).toBe('own')
    own.close()
  })

  it('is left to a listener of the app, but for that by which pages learn of changes', async () => {
    const app = await listening(next(), ({ server }) =>
      server.on('upgrade', (request, socket) => {
        if (request.url === '/own') socket.end('HTTP/1.1 101 Own\r\n\r\n')
      }),
    )
    expect(await upgrade(app, '/own')).toMatch(/^HTTP\/1.1 101 Own/)
    expect(await upgrade(app, '/_next/webpack-hmr')).toMatch(/^HTTP\/1.1 101 Next/)
  })

  it('is closed when Next fails', async () => {
    const app = await listening(next())
    await expect(upgrade(app, '/throws')).rejects.toThrow('closed')
  })

  it('may break off while a hook runs', async () => {
    const app = await listening(next(), (one) =>
      one.addHook('onRequest', async ({ raw, url }) => {
        if (url === '/page') return
        raw.socket.destroy(new Error('broken off'))
        await new Promise((resolve) => void raw.socket.once('close', resolve))
      }),
    )
    await expect(upgrade(app, '/_next/hmr')).rejects.toThrow('closed')
    expect((await app.inject('/page')).statusCode).toBe(200)
  })
})

it('closes the sockets that Next has, as a server would wait for them', async () => {
  const app = await listening(next())
  await upgrade(app, '/_next/hmr')
  await app.close()
  expect(app.server.listening).toBe(false)
})
