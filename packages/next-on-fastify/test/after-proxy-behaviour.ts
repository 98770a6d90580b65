// What is asked of a memory behind a proxy, with the newest and with the lowest Next.

import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT, type Peers } from './built-fixture.ts'
import { comparable, twoServers, type Answer, type Question, type TwoServers } from './two-servers.ts'

const PATHS = ['/behind', '/behind/isr', '/behind/json', '/behind/ps', '/behind/still']
const DECISIONS = [
  'header',
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

/** What a memory does behind the proxy of any Next. */
export function describeAfterProxy(peers: Peers): void {
  let servers: TwoServers
  beforeAll(async () => {
    servers = await twoServers(peers, { proxyMemory: 'after-proxy' })
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

  describe('a page is answered from memory, and the proxy sees each request', () => {
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

  describe.each(DECISIONS)('the proxy decides on %s', (decision) => {
    it.each(PATHS)('for %s as without a memory', async (path) => {
      const codings = [{}, { 'accept-encoding': 'gzip' }]
      const decided = { 'x-decide': decision, 'x-value': decision }
      for (const headers of codings) {
        for (const own of [decided, {}, decided, {}, {}, decided]) await same({ path, headers: { ...headers, ...own } })
      }
    })
  })

  it('what the proxy guards is seen by nobody else, whoever came first', async () => {
    const user = { cookie: 'user=1' }
    const statuses: number[] = []
    for (const headers of [user, {}, user, user, {}]) {
      statuses.push((await same({ path: '/guarded', headers })).status)
    }
    expect(statuses).toEqual([200, 401, 200, 200, 401])
  })

  it('what the proxy sees of some requests only is kept of those', async () => {
    const seen = { path: '/sometimes' }
    const unseen = { path: '/sometimes', headers: { 'x-unseen': '1' } }
    const found = await hits(async () => {
      for (const question of [seen, unseen, seen, unseen]) await same(question)
    })
    expect(found).toBe(1)
  })

  it('what no matcher matches is kept as ever', async () => {
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

  it('many who ask at once for what was revalidated are let in and kept out, each by the proxy', async () => {
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

  it('many requests at once have the proxy run for each, and get their own headers', async () => {
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
}
