// What is asked of a memory with the newest and with the lowest Next.

import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, inject } from 'vitest'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { comparable, twoServers, type Answer, type Question, type TwoServers } from '../helpers/two-servers.ts'

const GZIP = { 'accept-encoding': 'gzip, deflate, br, zstd' }

const peers = inject('peers')

let servers: TwoServers
let buildId: string
let asset: string

beforeAll(async () => {
  // On the defaults.
  servers = await twoServers(peers)
  buildId = readFileSync(join(servers.dir, '.next/BUILD_ID'), 'utf8')
  const manifest = JSON.parse(readFileSync(join(servers.dir, '.next/build-manifest.json'), 'utf8')) as {
    rootMainFiles: string[]
  }
  asset = `/_next/${manifest.rootMainFiles[0]}`
}, BUILD_TIMEOUT)
afterAll(() => servers.close())

/** Asks both, and both again: the answers are the same, and from memory as often as told. */
async function same(question: Question, expectedHits: number): Promise<Answer> {
  const before = servers.counts().hits
  let answer: Answer | undefined
  for (let turn = 0; turn < 3; turn++) {
    // One after the other: what one makes Next do, the other must see.
    const [kept, next] = [await servers.kept(question), await servers.next(question)]
    expect({ question, ...comparable(kept) }).toEqual({ question, ...comparable(next) })
    answer = kept
  }
  const hits = servers.counts().hits - before
  expect({ question, hits }).toEqual({ question, hits: expectedHits })
  return answer as Answer
}

async function etagOf(path: string): Promise<string> {
  const { head } = await servers.next({ path })
  return head.find(([name]) => name === 'ETag')?.[1] ?? ''
}

/** Until the answer is as told. */
async function eventually(question: Question, is: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await servers.next(question)
    if (is(answer)) return answer
    await wait(50)
  }
}

/** Until it comes from memory, and is not about to be made anew. */
async function keptFresh(question: Question): Promise<Answer> {
  for (;;) {
    const before = servers.counts().hits
    const answer = await servers.kept(question)
    if (servers.counts().hits > before && cacheOf(answer) !== 'STALE') return answer
    await wait(50)
  }
}

const cacheOf = ({ head }: Answer): string | undefined => head.find(([name]) => name === 'x-nextjs-cache')?.[1]

describe('is served from the cache as Next would', () => {
  it.each([
    ['a page of the App Router', '/'],
    ['a page with a query', '/?q=%2Fa'],
    ['a page of generateStaticParams', '/plain'],
    ['a page of the Pages Router', '/ps'],
    ['a page of the Pages Router without data', '/still'],
    ['a cached route handler', '/routes/json'],
    ['a small file of public', '/hello.txt'],
    ['a big file of public', '/big.txt'],
  ])('%s', async (_, path) => {
    await same({ path }, 2)
    await same({ path, headers: GZIP }, 2)
    await same({ path, headers: { 'accept-encoding': 'deflate' } }, 2)
    await same({ path, method: 'HEAD' }, 2)
    await same({ path, method: 'HEAD', headers: GZIP }, 2)
  })

  it('a file and the data of a page that the build made', async () => {
    for (const path of [asset, `/_next/data/${buildId}/ps.json`]) {
      await same({ path }, 2)
      await same({ path, headers: GZIP }, 2)
    }
  })

  it('requests of the App Router', async () => {
    const rsc = { rsc: '1', 'next-url': '/' }
    const [redirect] = [await servers.next({ path: '/', headers: rsc })]
    // Newer versions send a request without the hash of these headers to the URL that has it.
    const path = redirect?.head.find(([name]) => name === 'location')?.[1] ?? '/'
    expect((await same({ path, headers: rsc }, 2)).head).toContainEqual(['Content-Type', 'text/x-component'])
  })

  it('a page that a client has', async () => {
    for (const path of ['/', '/ps', '/still', '/hello.txt', asset]) {
      const etag = await etagOf(path)
      for (const had of [etag, `W/${etag.replace('W/', '')}`]) {
        // The first one learns for both ways to write it.
        const { status, body } = await same({ path, headers: { 'if-none-match': had } }, had === etag ? 2 : 3)
        expect([status, body]).toEqual([304, ''])
        if (etag.startsWith('W/')) break
      }
      expect((await same({ path, headers: { 'if-none-match': '"other"' } }, 3)).status).toBe(200)
    }
  })
})

describe('is served by Next', () => {
  it.each<[string, string]>([
    ['a page that is made for each request', '/dynamic'],
    ['an answer that sets a cookie', '/routes/cookie'],
    // Next 15 does not let a route say so.
    ...(peers === 'newest' ? [['an answer that differs by a header', '/routes/vary'] as [string, string]] : []),
    ['an answer that is private', '/routes/private'],
    ['what is not there', '/nothing/here'],
    ['a redirect', '/plain/'],
    ['a path with two slashes', '//plain'],
    ['a path with dots', '/a/../plain'],
    ['a path with a percent', '/pl%61in'],
    ['a page that a cookie may decide', '/by-cookie'],
    ['a page that a header may decide', '/by-header'],
    ['a page that the host may decide', '/by-host'],
    ['a page that the query may decide', '/by-query'],
    ['a page that may be rewritten to such a one', '/alias'],
  ])('%s', async (_, path) => {
    await same({ path }, 0)
  })

  it.each<[string, Question]>([
    ['of another method', { path: '/', method: 'POST' }],
    ['with a range', { path: '/big.txt', headers: { range: 'bytes=0-4' } }],
    ['with a date', { path: '/big.txt', headers: { 'if-modified-since': 'Sun, 22 Nov 2099 12:12:12 GMT' } }],
    ['with weights of codings', { path: '/', headers: { 'accept-encoding': 'gzip;q=0' } }],
    ['with credentials', { path: '/', headers: { authorization: 'Basic eDp5' } }],
    ['with a cookie of draft mode', { path: '/', headers: { cookie: 'a=b; __prerender_bypass=x' } }],
    ['with a header of Next', { path: '/', headers: { 'x-nextjs-data': '1' } }],
    ['with several entity tags', { path: '/', headers: { 'if-none-match': '"a", "b"' } }],
    ['that wants the page anew', { path: '/', headers: { 'if-none-match': '"a"', 'cache-control': 'no-cache' } }],
  ])('a request %s', async (_, question) => {
    // What would be right for others is there.
    await servers.kept({ path: question.path })
    await same(question, 0)
  })

  it('a client in draft mode', async () => {
    const { head } = await servers.next({ path: '/draft' })
    const cookie = head.find(([name]) => name.toLowerCase() === 'set-cookie')?.[1].split(';')[0] ?? ''
    expect(cookie).toMatch(/^__prerender_bypass=./)
    await keptFresh({ path: '/isr' })
    const before = await servers.kept({ path: '/isr', headers: { cookie } })
    const after = await servers.kept({ path: '/isr', headers: { cookie } })
    // It is rendered each time.
    expect([before.status, after.status, before.body === after.body]).toEqual([200, 200, false])
  })

  it('with the decision of a rule of the configuration', async () => {
    const asked: Question[] = [
      { path: '/by-cookie', headers: { cookie: 'vip=1' } },
      { path: '/by-header', headers: { 'x-moved': '1' } },
      { path: '/by-host', headers: { host: 'other.example' } },
      { path: '/by-query?to=isr' },
    ]
    for (const question of asked) {
      const plain = await servers.kept({ path: question.path.split('?')[0] ?? '' })
      expect(await servers.kept(question)).toEqual(await servers.next(question))
      expect(await servers.kept(question)).not.toEqual(plain)
    }
  })
})

describe('no client changes the response of another one', () => {
  it.each<[string, Question]>([
    ['by a host', { path: '/plain', headers: { host: 'evil.example' } }],
    ['by a forwarded host', { path: '/plain', headers: { 'x-forwarded-host': 'evil.example' } }],
    ['by a forwarded protocol', { path: '/plain', headers: { 'x-forwarded-proto': 'https' } }],
    ['by a query', { path: '/plain?nxtPslug=evil&__nextLocale=evil' }],
    ['by a cookie', { path: '/plain', headers: { cookie: 'evil=1; NEXT_LOCALE=de' } }],
    ['by a language', { path: '/plain', headers: { 'accept-language': 'de' } }],
    ['by a user agent', { path: '/plain', headers: { 'user-agent': 'Googlebot' } }],
    ['by a method', { path: '/plain', headers: { 'x-http-method-override': 'DELETE' } }],
    ['by asking for another form', { path: '/plain', headers: { rsc: '1', 'next-router-prefetch': '1' } }],
  ])('%s', async (_, question) => {
    await servers.kept({ path: '/change?path=/plain' })
    // Whoever asks first after that has the page made.
    await eventually({ path: '/plain' }, (answer) => cacheOf(answer) === 'HIT')
    await servers.next(question)
    for (let turn = 0; turn < 3; turn++) {
      expect(await servers.kept(question)).toEqual(await servers.next(question))
    }
    expect(await servers.kept({ path: '/plain' })).toEqual(await servers.next({ path: '/plain' }))
  })
})

describe('many concurrent requests', () => {
  const askAtOnce = (question: Question): Promise<Answer[]> =>
    Promise.all(Array.from({ length: 20 }, () => servers.kept(question)))

  it.each<[string, IncomingHttpHeaders]>([
    ['as it is', {}],
    ['compressed', GZIP],
  ])('is new for all after a revalidation, %s', async (_, headers) => {
    const { body: old } = await keptFresh({ path: '/tagged', headers })
    await servers.next({ path: '/change?tag=data&expire=0' })
    const answers = await askAtOnce({ path: '/tagged', headers })
    const [{ body } = { body: old }] = answers
    expect(new Set(answers.map((answer) => answer.body))).toEqual(new Set([body]))
    expect(body).not.toBe(old)
    expect(comparable((await askAtOnce({ path: '/tagged', headers }))[0]!)).toEqual(
      comparable(await servers.next({ path: '/tagged', headers })),
    )
  })

  it('is asked of Next once if it is a file of the build, even for the first time', async () => {
    const path = `${asset}?at-once`
    const answer = comparable(await servers.next({ path, headers: GZIP }))
    const { misses } = servers.counts()
    for (const one of await askAtOnce({ path, headers: GZIP })) expect(comparable(one)).toEqual(answer)
    expect(servers.counts().misses).toBe(misses + 1)
  })
})

describe('a revalidation that has returned', () => {
  it.each<[string, string, string]>([
    ['of a path', '/tagged', '/change?path=/tagged'],
    ['of a tag', '/tagged', '/change?tag=data&expire=0'],
    ['of a page of the Pages Router', '/ps', '/api/revalidate?path=/ps'],
    // Next 15 goes on with the old one.
    ...(peers === 'newest'
      ? [['of a route handler', '/routes/json', '/change?path=/routes/json'] as [string, string, string]]
      : []),
  ])('%s is seen by the next request', async (_, path, change) => {
    const seen: boolean[] = []
    for (let turn = 0; turn < 4; turn++) {
      const { body: old } = await keptFresh({ path })
      expect((await servers.next({ path: change })).status).toBe(200)
      const { body } = await servers.kept({ path })
      // The build counted from one too.
      if (turn > 0) seen.push(body !== old)
    }
    expect(seen).toEqual([true, true, true])
  })

  it('keeps unrelated responses', async () => {
    await keptFresh({ path: '/' })
    await servers.kept({ path: '/change?tag=data&expire=0' })
    const before = servers.counts().hits
    await servers.kept({ path: '/' })
    expect(servers.counts().hits).toBe(before + 1)
  })
})

describe('when its lifetime is out', () => {
  it.each([
    ['a page of the App Router', '/isr'],
    ['a page of the Pages Router', '/pisr'],
    ['a route handler whose clients may keep it longer', '/routes/long'],
  ])('%s is made anew as Next does', async (_, path) => {
    for (let turn = 0; turn < 2; turn++) {
      const fresh = await keptFresh({ path })
      await wait(2100)
      const stale = await servers.kept({ path })
      expect([cacheOf(stale), stale.body]).toEqual(['STALE', fresh.body])
      expect((await eventually({ path }, (answer) => cacheOf(answer) === 'HIT')).body).not.toBe(stale.body)
    }
  })
})

it.each([
  ['of the App Router', '/slow'],
  ['of the Pages Router', '/pslow'],
])('a page %s is shown as it was while Next makes it anew, which is not asked each time', async (_, path) => {
  const { body: old } = await keptFresh({ path })
  await wait(2100)
  const { misses } = servers.counts()
  const shown: Answer[] = []
  let answer = await servers.kept({ path })
  for (; cacheOf(answer) === 'STALE'; answer = await servers.kept({ path })) shown.push(answer)
  expect(new Set(shown.map(({ body }) => body))).toEqual(new Set([old]))
  expect([cacheOf(answer), answer.body === old]).toEqual(['HIT', false])
  expect(shown.length).toBeGreaterThan(10)
  // The old one and the new one, and what was asked for while that was stored.
  expect(servers.counts().misses - misses).toBeLessThan(shown.length / 4)
})

it('serves a changed file of public immediately', async () => {
  const file = join(servers.dir, 'public/hello.txt')
  await keptFresh({ path: '/hello.txt' })
  writeFileSync(file, 'Another hello\n')
  expect((await servers.kept({ path: '/hello.txt' })).body).toBe('Another hello\n')
  await servers.kept({ path: '/hello.txt' })
  utimesSync(file, new Date(), new Date(2020, 1, 1))
  await same({ path: '/hello.txt' }, 2)
})

it('never serves a page that middleware guards without it', async () => {
  const runs = ({ head }: Answer): number => Number(head.find(([name]) => name === 'x-proxy-runs')?.[1])
  const user = { cookie: 'user=1' }
  for (const headers of [user, {}, user, {}]) {
    const [kept, next] = [
      await servers.kept({ path: '/guarded', headers }),
      await servers.next({ path: '/guarded', headers }),
    ]
    expect([kept.status, runs(next) - runs(kept)]).toEqual([headers === user ? 200 : 401, 1])
    expect(comparable(next)).toEqual(comparable(kept))
  }
})
