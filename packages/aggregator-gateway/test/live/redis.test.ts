// Two gateways keep their answers in one real Redis, or Valkey.

import type { FastifyInstance } from 'fastify'
import { createClient } from 'redis'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { KeyValueCacheStore } from '../../src/index.ts'
import { gateway, upstream } from '../helpers/servers.ts'
import { isMissing, redisServer } from '@test/redis-server'

describe.skipIf(isMissing)('answers in Redis', () => {
  const redis = redisServer()

  type Client = ReturnType<typeof connect>
  const connect = () => createClient({ socket: { path: redis.path, reconnectStrategy: 20 }, disableOfflineQueue: true })
  let client: Client
  beforeEach(async () => {
    client = connect()
    client.on('error', () => {})
    await client.connect()
    await client.flushAll()
    onTestFinished(() => client.destroy())
  })

  /** A gateway with a connection of its own. */
  const gatewayWith = async (origin: string): Promise<FastifyInstance> => {
    const own = connect()
    own.on('error', () => {})
    await own.connect()
    onTestFinished(() => own.destroy())
    const store = new KeyValueCacheStore({
      get: (key) => own.get(`gateway:${key}`),
      set: (key, value, milliseconds) => own.set(`gateway:${key}`, value, { PX: milliseconds }),
      delete: (key) => own.del(`gateway:${key}`),
    })
    return gateway({
      upstreams: { it: { origin, cache: { store } } },
      endpoints: [
        { path: '/:id', calls: { one: { upstream: 'it', path: '/{params.id}', forwardHeaders: ['x-tenant'] } } },
        { path: '/:id', method: 'PUT', calls: { one: { upstream: 'it', path: '/{params.id}', method: 'PUT' } } },
        { path: '/raw/:id', passThrough: { upstream: 'it', path: '/{params.id}' } },
      ],
    })
  }

  const counting = async (headers: Record<string, string> = {}): Promise<{ origin: string; asked: () => number }> => {
    let asked = 0
    const origin = await upstream((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60', ...headers })
      response.end(JSON.stringify([++asked, request.headers['x-tenant'] ?? 'nobody']))
    })
    return { origin, asked: () => asked }
  }
  const ask = async (app: FastifyInstance, url = '/a', headers: Record<string, string> = {}): Promise<unknown> => {
    const { statusCode, json } = await app.inject({ url, headers })
    return statusCode === 200 ? json<{ one: unknown }>().one : statusCode
  }
  const keys = (): Promise<number> => client.dbSize()

  it('are shared, each for those whom it is for', async () => {
    const { origin } = await counting()
    const [one, two] = [await gatewayWith(origin), await gatewayWith(origin)]
    expect(await ask(one)).toEqual([1, 'nobody'])
    await expect.poll(() => keys()).toBe(2)
    expect(await ask(two)).toEqual([1, 'nobody'])
    expect(await ask(two, '/a', { 'x-tenant': 'acme' })).toEqual([2, 'acme'])
    expect(await ask(two, '/*')).toEqual([3, 'nobody'])
    await expect.poll(() => keys()).toBe(5)
    expect(await ask(one, '/a', { 'x-tenant': 'acme' })).toEqual([2, 'acme'])
    expect(await ask(one, '/*')).toEqual([3, 'nobody'])
    expect(await ask(one)).toEqual([1, 'nobody'])
  })

  it('end with their time', async () => {
    const { origin } = await counting({ 'cache-control': 'max-age=3' })
    const app = await gatewayWith(origin)
    await ask(app)
    await expect.poll(() => keys()).toBe(2)
    await vi.waitFor(async () => expect(await keys()).toBe(0), { timeout: 10_000 })
    expect(await ask(app)).toEqual([2, 'nobody'])
  })

  it('are dropped by each gateway that changes what they are of', async () => {
    const { origin } = await counting()
    const [one, two] = [await gatewayWith(origin), await gatewayWith(origin)]
    await ask(one)
    await expect.poll(() => keys()).toBe(2)
    expect((await two.inject({ method: 'PUT', url: '/a' })).statusCode).toBe(200)
    await expect.poll(() => ask(one)).toEqual([3, 'nobody'])
  })

  it('may be any bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256))
    let asked = 0
    const origin = await upstream((_, response) => {
      asked++
      response.writeHead(200, { 'content-type': 'a/b', 'cache-control': 'max-age=60' }).end(bytes)
    })
    const [one, two] = [await gatewayWith(origin), await gatewayWith(origin)]
    await one.inject('/raw/a')
    await expect.poll(() => keys()).toBe(2)
    expect([(await two.inject('/raw/a')).rawPayload.equals(bytes), asked]).toEqual([true, 1])
  })

  it.each([
    ['ends', (): Promise<void> => redis.stop(), (): Promise<void> => redis.start()],
    ['hangs', (): Promise<void> => redis.pause(), (): Promise<void> => redis.resume()],
  ])('are made by the upstream while Redis %s, and are kept when it is back', async (_, end, begin) => {
    const { origin, asked } = await counting()
    const app = await gatewayWith(origin)
    await ask(app)
    await expect.poll(() => keys()).toBe(2)
    await end()
    for (let count = 2; count < 40; count++) expect(await ask(app)).toEqual([count, 'nobody'])
    await begin()
    await vi.waitFor(
      async () => {
        await ask(app)
        const before = asked()
        await ask(app)
        expect(asked()).toBe(before)
      },
      { timeout: 10_000, interval: 100 },
    )
  })
})
