// What examples/next/README.md says about the tour.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { build, BUILD_TIMEOUT, copiesOfBuild } from '../suites/next.ts'

describe('example next/tour', () => {
  let origin: string
  let remove: () => Promise<void>
  beforeAll(async () => {
    await build('proxy')
    const copies = await copiesOfBuild('proxy', 1)
    remove = copies.remove
    const env = { NEXT_VARIANT: 'proxy', NEXT_DIR: copies.dirs[0]! }
    const started = await startSubject(new URL('../../examples/next/tour.ts', import.meta.url), { env })
    started.child.stderr.resume()
    origin = started.origin
  }, BUILD_TIMEOUT)
  afterAll(async () => {
    endSubjects()
    await remove?.()
  })

  async function visit(
    path: string,
    method = 'GET',
  ): Promise<{ status: number; how: string; runs: number; body: string }> {
    const response = await fetch(origin + path, { method, headers: { 'accept-encoding': 'identity' } })
    return {
      status: response.status,
      how: response.headers.get('cache-status') ?? '',
      runs: Number(response.headers.get('x-proxy-count')),
      body: await response.text(),
    }
  }

  async function metric(name: string): Promise<number> {
    const { body } = await visit('/metrics')
    const line = body.split('\n').find((one) => one.startsWith(name))
    return Number(line?.split(' ')[1] ?? 0)
  }

  it('shows a cached page', async () => {
    await visit('/static')
    expect(await visit('/static')).toMatchObject({ status: 200, how: 'next-on-fastify; hit', runs: 0 })
  })

  it('shows a cached page behind middleware, which runs each time', async () => {
    await visit('/isr')
    const { runs } = await visit('/isr')
    expect(await visit('/isr')).toMatchObject({ status: 200, how: 'next-on-fastify; hit', runs: runs + 1 })
  })

  it('shows responses of middleware and of each request, with a metric for each', async () => {
    const bypasses = await metric('next_response_cache_bypasses_total{prefix="",reason="proxy"}')
    expect(await visit('/guarded')).toMatchObject({ status: 401, how: expect.stringContaining('detail=proxy') })
    expect(await metric('next_response_cache_bypasses_total{prefix="",reason="proxy"}')).toBe(bypasses + 1)
    const hits = await metric('next_response_cache_hits_total')
    const { how } = await visit('/ssr')
    expect(how).not.toMatch(/hit|stored/)
    await visit('/static')
    expect(await metric('next_response_cache_hits_total')).toBe(hits + 1)
  })

  it('shows a revalidation, after which the page is rendered once and cached again', async () => {
    await visit('/isr')
    const { body: before } = await visit('/isr')
    const invalidated = await metric('next_response_cache_invalidated_total')
    await visit('/handlers/revalidate?path=/isr', 'POST')
    expect(await metric('next_response_cache_invalidated_total')).toBeGreaterThan(invalidated)
    const { how, body } = await visit('/isr')
    expect(how).toMatch(/^next-on-fastify; fwd=miss/)
    expect(body).not.toBe(before)
    await visit('/isr')
    expect(await visit('/isr')).toMatchObject({ how: 'next-on-fastify; hit', body })
  })
})
