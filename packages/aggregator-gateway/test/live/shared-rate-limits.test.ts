// Two gateways count the requests of a client in one real Redis, or Valkey.

import { once } from 'node:events'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { gatewayPlugin } from '../../src/index.ts'
import { upstream } from '../helpers/servers.ts'
import { isMissing, redisServer } from '@test/redis-server'

const MAX = 4
const COMMAND_TIMEOUT = 100

describe.skipIf(isMissing)('rate limits in Redis', () => {
  const server = redisServer()
  const connect = (): Redis => {
    // The options of docs/routes.md, with a faster reconnect.
    const redis = new Redis({
      path: server.path,
      enableOfflineQueue: false,
      commandTimeout: COMMAND_TIMEOUT,
      retryStrategy: () => 20,
    })
    redis.on('error', () => {})
    return redis
  }
  /** Without its queue, ioredis rejects commands before it is connected. */
  const connected = async (): Promise<Redis> => {
    const redis = connect()
    await once(redis, 'ready')
    return redis
  }
  beforeEach(async () => {
    const redis = await connected()
    await redis.flushall()
    redis.disconnect()
  })

  /** A gateway with a connection of its own. */
  const gateway = async (origin: string, timeWindow: number): Promise<FastifyInstance> => {
    const redis = await connected()
    const app = Fastify()
    onTestFinished(async () => {
      await app.close()
      redis.disconnect()
    })
    await app.register(rateLimit, { global: false, redis, skipOnError: true })
    await app.register(gatewayPlugin, {
      upstreams: { it: origin },
      endpoints: [
        {
          path: '/:id',
          calls: { one: { upstream: 'it', path: '/{params.id}' } },
          route: { config: { rateLimit: { max: MAX, timeWindow } } },
        },
      ],
    })
    return app
  }
  const counting = async (): Promise<{ origin: string; asked: () => number }> => {
    let asked = 0
    const origin = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(String(++asked))
    })
    return { origin, asked: () => asked }
  }
  const ask = async (app: FastifyInstance): Promise<number> => (await app.inject('/a')).statusCode

  it('hold for all gateways together, and what is refused asks no upstream', async () => {
    const { origin, asked } = await counting()
    const [one, two] = [await gateway(origin, 60_000), await gateway(origin, 60_000)]
    const statuses: number[] = []
    for (let count = 0; count < MAX; count++) statuses.push(await ask(one), await ask(two))
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 429, 429])
    expect(asked()).toBe(MAX)
  })

  it('end with their time', async () => {
    const { origin } = await counting()
    const [one, two] = [await gateway(origin, 1000), await gateway(origin, 1000)]
    await vi.waitFor(async () => expect(await ask(one)).toBe(429), { timeout: 10_000, interval: 1 })
    await vi.waitFor(async () => expect(await ask(two)).toBe(200), { timeout: 10_000, interval: 100 })
  })

  it.each([
    ['is gone', (): Promise<void> => server.stop(), (): Promise<void> => server.start()],
    ['hangs', (): Promise<void> => server.pause(), (): Promise<void> => server.resume()],
  ])('let requests pass while Redis %s, and are kept when it is back', async (_, end, begin) => {
    const { origin } = await counting()
    const app = await gateway(origin, 60_000)
    await end()
    for (let count = 0; count < 2 * MAX; count++) expect(await ask(app)).toBe(200)
    await begin()
    await vi.waitFor(async () => expect(await ask(app)).toBe(429), { timeout: 10_000, interval: 20 })
  })
})
