// What is asked of a memory behind a proxy, with the newest and with the lowest Next.

import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, inject } from 'vitest'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { comparable, twoServers, type Answer, type Question, type TwoServers } from '../helpers/two-servers.ts'

const PATHS = ['/behind', '/behind/isr', '/behind/json', '/behind/ps', '/behind/still']
const DECISIONS = [
  'header',
  'seen',
  'lifetime',
  'vary',
  'etag',
  'type',
  'encoding',
  'rsc',
  'draft',
  'status',
  'cookie',
  'request',
  'rewrite',
  'redirect',
  'answer',
  'throw',
]

const peers = inject('peers')

let servers: TwoServers
beforeAll(async () => {
  servers = await twoServers(peers, undefined, {}, (app) => {
    app.addHook('onRequest', async ({ id, headers }, reply) => {
      if (headers['x-decide'] === 'fastify') reply.header('x-id', id)
    })
  })
}, BUILD_TIMEOUT)
afterAll(() => servers?.close())

const RUNS = 'x-proxy-runs'
const runsOf = ({ head }: Answer): number | undefined => {
  const runs = head.find(([name]) => name === RUNS)?.[1]
  return runs === undefined ? undefined : Number(runs)
}

/** Asks both: the answers are the same, and the proxy has run for each. */
async function same(question: Question): Promise<Answer> {
  const kept = await servers.kept(question)
  const next = await servers.next(question)
  expect({ question, ...comparable(kept) }).toEqual({ question, ...comparable(next) })
  const [first, second] = [runsOf(kept), runsOf(next)]
  expect({ question, runs: second }).toEqual({ question, runs: first === undefined ? undefined : first + 1 })
  return kept
}

async function hits(ask: () => Promise<unknown>): Promise<number> {
  const before = servers.counts().hits
  await ask()
  return servers.counts().hits - before
}

describe('serves a page from the cache, and runs middleware for each request', () => {
  it.each(PATHS)('%s', async (path) => {
    const etag = (await servers.next({ path })).head.find(([name]) => name === 'ETag')?.[1]
    const questions: Question[] = [
      { path },
      { path, headers: { 'accept-encoding': 'gzip' } },
      { path, method: 'HEAD' },
      { path: `${path}?a=1`, headers: { cookie: 'a=b' } },
      ...(etag === undefined ? [] : [{ path, headers: { 'if-none-match': etag } }]),
    ]
    for (const question of questions) {
      await same(question)
      const found = await hits(async () => {
        await same(question)
        await same(question)
      })
      expect({ question, found }).toEqual({ question, found: 2 })
    }
  })
})

describe.each(DECISIONS)('middleware decides on %s', (decision) => {
  it.each(PATHS)('for %s as without a response cache', async (path) => {
    const codings = [{}, { 'accept-encoding': 'gzip' }]
    const decided = { 'x-decide': decision, 'x-value': decision }
    for (const headers of codings) {
      for (const own of [decided, {}, decided, {}, {}, decided]) await same({ path, headers: { ...headers, ...own } })
    }
  })
})

it('middleware sees the same request, early or in the router', async () => {
  const queries = ['', '?', '?a=1', '?a=1&b=2&a=3&c', '?a=%20%2B+%C3%A4&&=', '?__proto__=1', '?nxtPa=1', '?a[]=1;b']
  const headers: IncomingHttpHeaders[] = [
    {},
    { cookie: 'a=b; c="d"', 'accept-language': 'de', 'user-agent': 'Someone/1.0', 'x-real-ip': '10.0.0.1' },
    { 'x-forwarded-for': '10.0.0.1, 10.0.0.2', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'b.example' },
    { 'x-forwarded-proto': 'http', 'x-forwarded-port': '8080', traceparent: '00-1-1-01' },
  ]
  for (const query of queries) {
    for (const own of headers) {
      const question = { path: `/behind/isr${query}`, headers: { 'x-decide': 'seen', ...own } }
      for (let turn = 0; turn < 3; turn++) await same(question)
    }
  }
})

it("runs the proxy before Next's router is asked where that has been seen to run it, and once", async () => {
  const early = async (question: Question): Promise<number> => {
    await same(question)
    const before = servers.counts().earlyMiddleware
    await same(question)
    await same(question)
    return servers.counts().earlyMiddleware - before
  }
  const rsc = { rsc: '1', 'next-router-prefetch': '1' }
  const questions: Question[] = [
    ...PATHS.map((path) => ({ path: `${path}?early=1` })),
    { path: '/sometimes?early=1' },
    { path: '/plain?early=1' },
    { path: '/behind/isr?early=%22' },
    { path: '/behind/isr?early=2', headers: rsc },
    { path: '/behind/isr?early=3', headers: { 'x-decide': 'rewrite' } },
    { path: '/dynamic?early=1' },
  ]
  const found: number[] = []
  for (const question of questions) found.push(await early(question))
  // What is made for each request comes to its page by the router, and is known to pass the proxy.
  expect(found).toEqual([2, 2, 2, 2, 2, 0, 0, 2, 0, 0, 2])
})

it('middleware has the request of Fastify, early or in the router', async () => {
  const question = { path: '/behind/isr?fastify=1', headers: { 'x-decide': 'fastify' } }
  for (let turn = 0; turn < 4; turn++) {
    const { head } = await servers.kept(question)
    const { 'x-id': id, 'x-of-fastify': told } = Object.fromEntries(head)
    // The lowest Next runs its proxy in a runtime of its own.
    expect(told).toBe(peers === 'newest' ? id : 'nothing')
  }
  expect(servers.counts().earlyMiddleware).toBeGreaterThanOrEqual(2)
})

it('only allowed clients get a guarded page, in any order', async () => {
  const user = { cookie: 'user=1' }
  const statuses: number[] = []
  for (const headers of [user, {}, user, user, {}]) {
    statuses.push((await same({ path: '/guarded', headers })).status)
  }
  expect(statuses).toEqual([200, 401, 200, 200, 401])
})

it('caches a page with a conditional matcher', async () => {
  const seen = { path: '/sometimes' }
  const unseen = { path: '/sometimes', headers: { 'x-unseen': '1' } }
  const found = await hits(async () => {
    for (const question of [seen, unseen, seen, unseen]) await same(question)
  })
  expect(found).toBe(1)
})

it('caches a page without a matcher', async () => {
  const found = await hits(async () => {
    for (let turn = 0; turn < 3; turn++) await same({ path: '/plain' })
  })
  expect(found).toBe(2)
})

it('a revalidation that has returned is seen by the next request', async () => {
  const path = '/behind/isr'
  const seen: boolean[] = []
  for (let turn = 0; turn < 4; turn++) {
    // Until it comes from memory.
    while ((await hits(() => servers.kept({ path }))) === 0) await wait(50)
    const { body: old } = await servers.kept({ path })
    await servers.next({ path: `/change?path=${path}` })
    const { body } = await servers.kept({ path })
    // The build counted from one too.
    if (turn > 0) seen.push(body !== old)
  }
  expect(seen).toEqual([true, true, true])
})

it('middleware decides for each of many concurrent requests after a revalidation', async () => {
  const path = '/guarded'
  const users = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? { cookie: 'user=1' } : {}))
  for (let turn = 0; turn < 3; turn++) {
    await same({ path, headers: { cookie: 'user=1' } })
    await servers.next({ path: `/change?path=${path}` })
    const answers = await Promise.all(users.map((headers) => servers.kept({ path, headers })))
    expect(answers.map(({ status }) => status)).toEqual(users.map(({ cookie }) => (cookie ? 200 : 401)))
    expect(new Set(answers.map(runsOf)).size).toBe(users.length)
  }
})

it('runs middleware for each of many concurrent requests, with its own headers', async () => {
  const path = '/behind'
  await same({ path })
  const start = runsOf(await servers.next({ path })) ?? 0
  const values = Array.from({ length: 50 }, (_, index) => String(index))
  const answers = await Promise.all(
    values.map((value) => servers.kept({ path, headers: { 'x-decide': 'header', 'x-value': value } })),
  )
  expect(answers.map(({ head }) => head.find(([name]) => name === 'x-of-proxy')?.[1])).toEqual(values)
  expect(new Set(answers.map(runsOf)).size).toBe(values.length)
  expect(runsOf(await servers.next({ path }))).toBe(start + values.length + 1)
})
