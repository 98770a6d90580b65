// The header with tags is the same for responses from the response cache, and for those of Next.

import type { IncomingHttpHeaders } from 'node:http'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'
import { type Answer, ask } from '../helpers/two-servers.ts'

let cached: FastifyInstance
let plain: FastifyInstance

beforeAll(async () => {
  const env = { MEMORY_FIXTURE: 'plain' }
  Object.assign(process.env, env, { NODE_ENV: 'production' })
  const built = await builtFixture(inject('peers'), env, 'cached')
  const dir = mkdtempSync(join(built, '../copy-'))
  cpSync(built, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  const cdn = { tagHeader: 'cache-tag' } as const
  cached = await createNextOnFastify({ dir, cdn, responseCache: { brotli: true } })
  plain = await createNextOnFastify({ dir, cdn, responseCache: false })
  await Promise.all([cached.listen({ port: 0 }), plain.listen({ port: 0 })])
  return async () => {
    await Promise.all([cached.close(), plain.close()])
    rmSync(dir, { recursive: true })
  }
}, BUILD_TIMEOUT)

const tagsOf = ({ head }: Answer): string | undefined => head.find(([name]) => name === 'Cache-Tag')?.[1]
const hits = (): number => cached.nextStats()?.responseCache?.hits ?? 0

describe('the tags of a response', () => {
  it.each<[string, string, string]>([
    ['a page with data', '/tagged', '_N_T_/layout,_N_T_/tagged/layout,_N_T_/tagged/page,_N_T_/tagged,data'],
    ['a page behind middleware', '/behind', '_N_T_/layout,_N_T_/behind/layout,_N_T_/behind/page,_N_T_/behind'],
    ['a page of the Pages Router', '/ps', '_N_T_/ps'],
    [
      'a route handler',
      '/routes/json',
      '_N_T_/layout,_N_T_/routes/layout,_N_T_/routes/json/layout,_N_T_/routes/json/route,_N_T_/routes/json',
    ],
  ])('are those of Next, cached or not: %s', async (_, path, tags) => {
    const variants: IncomingHttpHeaders[] = [{}, { 'accept-encoding': 'gzip' }, { 'accept-encoding': 'br' }]
    for (const headers of variants) {
      for (const method of ['GET', 'HEAD']) {
        const expected = await ask(plain, { path, headers, method })
        expect({ path, tags: tagsOf(expected)?.split(',').toSorted() }).toEqual({
          path,
          tags: tags.split(',').toSorted(),
        })
        const before = hits()
        for (let turn = 0; turn < 3; turn++) {
          expect({ turn, tags: tagsOf(await ask(cached, { path, headers, method })) }).toEqual({
            turn,
            tags: tagsOf(expected),
          })
        }
        expect(hits() - before).toBeGreaterThanOrEqual(2)
      }
    }
    const etag = (await ask(plain, { path })).head.find(([name]) => name.toLowerCase() === 'etag')?.[1]
    // Route handlers have none.
    if (etag === undefined) return
    for (const app of [plain, cached, cached]) {
      const answer = await ask(app, { path, headers: { 'if-none-match': etag } })
      expect([answer.status, tagsOf(answer)]).toEqual([304, tagsOf(await ask(plain, { path }))])
    }
  })

  it('are there on a stale page, which a CDN may store for a second', async () => {
    await ask(plain, { path: '/isr' })
    await expect
      .poll(async () => {
        const answer = await ask(cached, { path: '/isr' })
        const head = new Map(answer.head)
        return (
          head.get('x-nextjs-cache') === 'STALE' && [tagsOf(answer)?.includes('_N_T_/isr'), head.get('Cache-Control')]
        )
      })
      .toEqual([true, expect.stringMatching(/^s-maxage=1\b/)])
  })

  it('are there on each of many concurrent responses, or no CDN may store it', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(plain, { path: '/pisr' })))
    for (const answer of answers) {
      const control = new Map(answer.head).get('Cache-Control') ?? ''
      expect([tagsOf(answer), /private/.test(control)]).toEqual(
        tagsOf(answer) === undefined ? [undefined, true] : ['_N_T_/pisr', false],
      )
    }
  })

  it('are none on files and dynamic pages without data', async () => {
    for (const path of ['/hello.txt', '/dynamic', '/still']) {
      expect({ path, tags: tagsOf(await ask(cached, { path })) }).toEqual({ path, tags: undefined })
    }
  })
})
