import type { ServerResponse } from 'node:http'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { gateway, gatewayOf, jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

/** An upstream that hangs for the requests that the function names, counted from 1. */
async function hanging(hangs: (count: number) => boolean): Promise<{ origin: string; seen: ServerResponse[] }> {
  const seen: ServerResponse[] = []
  const origin = await upstream((_, response) => {
    seen.push(response)
    if (!hangs(seen.length)) sendJson(response, String(seen.length))
  })
  return { origin, seen }
}

describe('a late call', () => {
  it('is hedged, and the first request is aborted after the response', async () => {
    const { origin, seen } = await hanging((count) => count === 1)
    const app = await gatewayOf(origin, { one: { path: '/', hedge: 20 } })
    expect((await app.inject('/')).body).toBe('{"one":2}')
    if (!seen[0]!.closed) await once(seen[0]!, 'close')
    expect([seen.length, seen[0]!.writableFinished]).toEqual([2, false])
  })

  it('may still respond first', async () => {
    const { origin, seen } = await hanging(() => true)
    const app = await gatewayOf(origin, { one: { path: '/', hedge: 20 } })
    const answer = app.inject('/').then(({ body }) => body)
    await expect.poll(() => seen.length).toBe(2)
    sendJson(seen[0]!, '"first"')
    expect(await answer).toBe('{"one":"first"}')
    if (!seen[1]!.closed) await once(seen[1]!, 'close')
  })

  it('fails when both requests fail', async () => {
    const { origin, seen } = await hanging(() => true)
    const app = await gatewayOf(origin, { one: { path: '/', hedge: 20 } })
    const answer = app.inject('/').then(({ statusCode }) => statusCode)
    await expect.poll(() => seen.length).toBe(2)
    seen[0]!.writeHead(404).end()
    seen[1]!.writeHead(404).end()
    expect(await answer).toBe(502)
  })

  it('does not fail when one of both fails', async () => {
    const { origin, seen } = await hanging(() => true)
    const app = await gatewayOf(origin, { one: { path: '/', hedge: 20 } })
    const answer = app.inject('/').then(({ body }) => body)
    await expect.poll(() => seen.length).toBe(2)
    seen[1]!.destroy()
    setTimeout(() => sendJson(seen[0]!, '1'), 20)
    expect(await answer).toBe('{"one":1}')
  })

  it('is hedged only once', async () => {
    const { origin, seen } = await hanging((count) => count <= 2)
    const app = await gatewayOf(origin, { one: { path: '/', hedge: 20 } }, { timeout: 1000 })
    expect((await app.inject('/')).statusCode).toBe(504)
    expect(seen).toHaveLength(2)
  })

  it('is hedged at the other origin', async () => {
    const { origin, seen } = await hanging(() => true)
    const other = await jsonUpstream(() => 'other')
    const app = await gateway({
      upstreams: { it: { origin: [origin, other] } },
      endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', hedge: 20 } } }],
    })
    for (let count = 0; count < 4; count++) expect((await app.inject('/')).body).toBe('{"one":"other"}')
    expect(seen.length).toBeGreaterThan(0)
  })
})

it('a call with a response in time is not hedged', async () => {
  const { origin, seen } = await hanging(() => false)
  const app = await gatewayOf(origin, { one: { path: '/', hedge: 5000 } }, { timeout: 10_000 })
  for (let count = 0; count < 20; count++) await app.inject('/')
  expect(seen).toHaveLength(20)
})

it('the delay follows the durations of responses', async () => {
  const { origin, seen } = await hanging((count) => count === 200)
  const app = await gateway({
    upstreams: { it: { origin, hedgeBudget: 1 } },
    endpoints: [{ path: '/', timeout: 60_000, calls: { one: { upstream: 'it', path: '/', hedge: true } } }],
  })
  for (let count = 0; count < 199; count++) await app.inject('/')
  const early = seen.length
  // Answers came within milliseconds: a minute is not waited for.
  expect((await app.inject('/')).statusCode).toBe(200)
  expect(seen.length).toBeGreaterThan(early)
})

it('an upstream that is always late gets 2 % more calls, after the first ten', async () => {
  const { origin, seen } = await hanging(() => true)
  const app = await gateway({
    upstreams: { it: { origin, circuitBreaker: false, maxConnections: 300 } },
    endpoints: [{ path: '/', timeout: 3000, calls: { one: { upstream: 'it', path: '/', hedge: 10 } } }],
  })
  await Promise.all(Array.from({ length: 200 }, () => app.inject('/')))
  expect(seen.length).toBeGreaterThan(200)
  expect(seen.length).toBeLessThanOrEqual(200 + 10 + 4)
})
