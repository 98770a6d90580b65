import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { observedHandler } from '../../../src/next/page-cache/observed-cache-handler.ts'
import type { Build } from '../../../src/next/build/cacheable-build.ts'
import { ResponseCache } from '../../../src/response-cache/response-cache.ts'
import { cacheLimits } from '../../helpers/cache-limits.ts'

const TOKEN = /^[A-Za-z*][!#$%&'*+\-.^_`|~\w:/]*$/

interface Rendering {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly before?: Promise<void>
  readonly lifetime?: number
  readonly onRequest?: () => void
}

/** A server whose Next renders like this, and hooks set these headers. */
async function serve(
  rendering: Rendering = {},
  hooks: Readonly<Record<string, string>> = {},
): Promise<(headers?: Readonly<Record<string, string>>, method?: string) => Promise<unknown>> {
  const found = { lastModified: Date.now(), value: { kind: 'APP_PAGE', headers: {} } }
  const Handler = observedHandler(
    class {
      async get() {
        return { ...found, cacheControl: { revalidate: rendering.lifetime ?? 3600 } }
      }
      async set(): Promise<void> {}
      async revalidateTag(): Promise<void> {}
    },
  )
  const handler = new Handler({})
  const no = (): boolean => false
  const build = { isBot: no, isConditional: no, isProxied: no, isMade: () => true } as unknown as Build
  const cache = new ResponseCache(build, cacheLimits({ cacheStatus: true, maxEntryBytes: 100 }))
  const next = async (_: IncomingMessage, response: ServerResponse): Promise<void> => {
    await handler.get('/page', { kind: 'APP_PAGE' })
    await rendering.before
    response.setHeader('x-nextjs-cache', 'HIT')
    for (const [name, value] of Object.entries(rendering.headers ?? {})) response.setHeader(name, value)
    response.end(rendering.body ?? 'page')
  }
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(hooks)) response.setHeader(name, value)
    void cache.serve(next, request, response)
    rendering.onRequest?.()
  }).listen(0)
  await once(server, 'listening')
  onTestFinished(() => {
    cache.close()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return async (headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const sent = httpRequest({ port, path: '/page', method, headers }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    await text(response)
    return response.headers['cache-status']
  }
}

describe('Cache-Status', () => {
  it('is a miss that was stored, then a hit', async () => {
    const ask = await serve()
    expect(await ask()).toBe('next-on-fastify; fwd=miss; stored')
    expect(await ask()).toBe('next-on-fastify; hit')
  })

  it('is a miss without "stored" if the response is private', async () => {
    const ask = await serve({ headers: { 'cache-control': 'private' } })
    expect(await ask()).toBe('next-on-fastify; fwd=miss')
  })

  it('is a miss without "stored" if the body is larger than "maxEntryBytes"', async () => {
    const ask = await serve({ headers: { 'content-length': '101' }, body: 'a'.repeat(101) })
    expect(await ask()).toBe('next-on-fastify; fwd=miss')
  })

  it('is a forward of a stale response after its lifetime', async () => {
    const ask = await serve({ lifetime: 0.3 })
    expect(await ask()).toBe('next-on-fastify; fwd=miss; stored')
    const later = async (): Promise<unknown> => {
      const status = await ask()
      return status === 'next-on-fastify; hit' ? undefined : status
    }
    await expect.poll(later).toBe('next-on-fastify; fwd=stale')
  })

  it('is collapsed for a request that has waited for a concurrent one', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let requests = 0
    const onRequest = (): void => {
      if (++requests === 2) resolve()
    }
    const ask = await serve({ before: promise, onRequest })
    expect(new Set(await Promise.all([ask(), ask()]))).toEqual(
      new Set(['next-on-fastify; fwd=miss; collapsed', 'next-on-fastify; fwd=miss; stored']),
    )
  })

  it.each([
    ['POST', {}, 'next-on-fastify; fwd=method'],
    ['GET', { authorization: 'me' }, 'next-on-fastify; fwd=bypass; detail=authorization'],
    ['GET', { range: 'bytes=0-1' }, 'next-on-fastify; fwd=bypass; detail=range'],
    ['GET', { 'next-action': 'a' }, 'next-on-fastify; fwd=bypass; detail=next-header'],
  ])('names the reason of a bypass: %s %j', async (method, headers, expected) => {
    const ask = await serve()
    const status = await ask(headers, method)
    expect(status).toBe(expected)
    expect(/detail=(.*)/.exec(String(status))?.[1] ?? 'token').toMatch(TOKEN)
  })

  it('is appended to the member of a hook', async () => {
    const ask = await serve({}, { 'cache-status': 'hook; hit' })
    expect(await ask()).toBe('hook; hit, next-on-fastify; fwd=miss; stored')
    expect(await ask()).toBe('hook; hit, next-on-fastify; hit')
    expect(await ask({ range: 'bytes=0-1' })).toBe('hook; hit, next-on-fastify; fwd=bypass; detail=range')
  })

  it('is appended to the member of the app, which is cached', async () => {
    const ask = await serve({ headers: { 'Cache-Status': 'origin; hit' } })
    expect(await ask()).toBe('origin; hit, next-on-fastify; fwd=miss; stored')
    expect(await ask()).toBe('origin; hit, next-on-fastify; hit')
  })
})
