// What grows faster than its input takes minutes here, and the test times out.

import { initTRPC } from '@trpc/server'
import * as fc from 'fast-check'
import Fastify from 'fastify'
import { trpcPlugin } from 'trpc-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isPlainHost } from '../../../src/request/plain-host.ts'
import { readQuery } from '../../../src/request/query-string.ts'
import { routing } from '../../helpers/peer-versions.ts'

const MANY = 1_000_000

const t = initTRPC.create({ isDev: false })
const router = t.router({
  hello: t.procedure.query(() => 'world'),
  write: t.procedure.input((value) => value).mutation(() => 'written'),
  events: t.procedure.subscription(async function* () {
    yield 1
  }),
})

async function respond(request: { url: string; method?: 'GET' | 'POST'; headers?: object; body?: string }) {
  const app = Fastify({ bodyLimit: 1e8, ...routing({ maxParamLength: 1e8 }) })
  onTestFinished(() => app.close())
  await app.register(trpcPlugin<typeof router>, { prefix: '/trpc', trpcOptions: { router } })
  return app.inject(request as never)
}

describe('responds to hostile headers', () => {
  const JSON_TYPE = 'application/json'
  it.each([
    ['a content type after many spaces', `${' '.repeat(MANY)}${JSON_TYPE}`],
    ['a content type with many spaces', `${JSON_TYPE}${' '.repeat(MANY)}x`],
    ['a content type with many semicolons', `${JSON_TYPE}${'; '.repeat(MANY)}`],
  ])('%s', async (_name, type) => {
    const headers = { 'content-type': type }
    // Some of them Fastify refuses by itself, which depends on its version.
    const { statusCode } = await respond({ method: 'POST', url: '/trpc/write', headers, body: '1' })
    expect([200, 415]).toContain(statusCode)
  })

  it.each([
    ['a host of many dots', '.'.repeat(MANY)],
    ['a host of many labels', 'a.'.repeat(MANY)],
    ['a host of many digits', '1'.repeat(MANY)],
    ['a host of many colons', ':'.repeat(MANY)],
    ['a host of many ports', 'a:1'.repeat(MANY)],
    ['a host of many brackets', '['.repeat(MANY)],
    ['an address of many groups', `[${'1:'.repeat(MANY)}]`],
    ['a host with Punycode', 'xn--'.repeat(MANY)],
  ])('%s', async (_name, host) => {
    const { statusCode } = await respond({ url: '/trpc/hello', headers: { host } })
    expect([200, 500]).toContain(statusCode)
  })

  it('a last event id of many characters', async () => {
    const headers = { 'last-event-id': `${'a'.repeat(MANY)}\t` }
    const { statusCode } = await respond({ url: '/trpc/events', headers })
    expect(statusCode).toBe(200)
  })
})

describe('responds to hostile URLs', () => {
  it.each([
    ['many parameters without a value', '&a'.repeat(MANY)],
    ['many empty parameters', '&'.repeat(MANY)],
    ['many values without a name', '&='.repeat(MANY)],
    ['many parameters of a name', '&input=1'.repeat(MANY)],
    ['many pluses', `&input=${'+'.repeat(MANY)}`],
    ['many malformed escapes', `&input=${'%'.repeat(MANY)}`],
    ['many escapes', `&input=${'%20'.repeat(MANY)}`],
  ])('%s', (_name, query) => {
    readQuery(`/trpc/hello?${query}`)
    readQuery(`/trpc/hello?a=1${query}`)
    expect(readQuery(`/trpc/hello?input=first${query}`)?.input ?? 'first').toBe('first')
  })

  it('a batch of many unknown procedures', async () => {
    const { statusCode } = await respond({ url: `/trpc/${','.repeat(10_000)}?batch=1` })
    expect(statusCode).toBe(404)
  })
})

describe('a plain host', () => {
  it('is a host that a URL parser does not change', () => {
    const part = fc.constantFrom(
      ...['a', 'Z', '0', '1', '9', '255', '256', '.', '-', '_', ':', ':80', '65535', '65536', 'xn--', 'XN--'],
      ...['[', '::1', ']', '0x', 'f', '/', '@', ' ', '%', '\n', 'é', '1.2.3.4', '01', '?'],
    )
    const asBefore = (host: string): boolean =>
      /^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i.test(host) && URL.canParse(`http://${host}`)
    fc.assert(
      fc.property(fc.array(part, { maxLength: 7 }), (parts) => {
        expect(isPlainHost(parts.join(''))).toBe(asBefore(parts.join('')))
      }),
      { numRuns: 20_000 },
    )
  })
})
