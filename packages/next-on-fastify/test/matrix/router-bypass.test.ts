// What is asked of the direct path with the newest and with the lowest Next: one built app served in one process with it
// and without, so that each difference is its own.

import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { createNextOnFastify, type NextPluginOptions } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, it, inject } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'
import { rawExchange } from '../helpers/raw-exchange.ts'
import { ask, type Answer, type Question } from '../helpers/two-servers.ts'

const GZIP = { 'accept-encoding': 'gzip, deflate, br, zstd' }
const JSON_BODY = { method: 'POST', headers: { 'content-type': 'application/json' } }
const patient = { timeout: 60_000 }

const told = globalThis as {
  afterIsDone?: number
  endless?: { left: boolean }
  requestErrors?: object[]
  runs?: Record<string, number>
}

/** React sends data in more or fewer parts, and Next gives some elements of what it makes for one request a random key. */
function comparable(answer: Answer): Answer {
  const body = decoded(answer)
  let data = ''
  const rest = body.replaceAll(/<script>self\.__next_f\.push\(\[1,"(.*?)"\]\)<\/script>/gs, (_, part: string) => {
    data += part
    return ''
  })
  return { ...answer, body: (rest + data).replaceAll(/(\\?",\\?")[\w-]{21}([a-z]?\\?")/g, '$1random$2') }
}

function decoded({ head, body }: Answer): string {
  const isCompressed = body !== '' && head.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip')
  return isCompressed ? gunzipSync(Buffer.from(body, 'latin1')).toString('latin1') : body
}

const peers = inject('peers')

let dir: string
let direct: FastifyInstance
let plain: FastifyInstance
/** It has a memory, too. */
let remembering: FastifyInstance
const served: FastifyInstance[] = []

const serve = async (options: NextPluginOptions): Promise<FastifyInstance> => {
  const app = await createNextOnFastify({ dir, dev: false, ...options })
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-frame-options', 'DENY')
    if (request.headers.origin !== undefined) reply.header('vary', 'origin')
  })
  await app.listen({ port: 0 })
  served.push(app)
  return app
}

beforeAll(async () => {
  process.env['NODE_ENV'] = 'production'
  dir = await builtFixture(peers, {}, 'direct')
  // The first one: a memory must be there before Next makes its cache.
  remembering = await serve({ bypassRouter: 'all', responseCache: { proxied: 'unmatched' } })
  direct = await serve({ bypassRouter: 'all' })
  plain = await serve({})
}, BUILD_TIMEOUT)
// All at the end: they share what waits for `after()`, which does so once.
afterAll(() => Promise.all(served.map((app) => app.close())))

const directs = (app = direct): number => app.nextStats()!.routerBypass!.bypassed

/** Asks both three times: the answers are the same, and but for the first they went directly or not, as told. */
async function same(question: Question, isDirect: boolean): Promise<Answer> {
  let answer: Answer | undefined
  let before = 0
  for (let turn = 0; turn < 3; turn++) {
    if (turn === 1) before = directs()
    const found = await ask(direct, question)
    const right = await ask(plain, question)
    expect({ turn, question, ...comparable(found) }).toEqual({ turn, question, ...comparable(right) })
    answer = found
  }
  expect({ question, direct: directs() - before }).toEqual({ question, direct: isDirect ? 2 : 0 })
  return answer!
}

describe('renders directly with the same response', () => {
  it.each<[string, Question, number]>([
    ['a route handler', { path: '/echo?a=1&b=%20&a=3' }, 200],
    ['a body', { path: '/echo', method: 'PUT', body: 'x'.repeat(100_000) }, 200],
    ['HEAD that no handler has', { path: '/echo', method: 'HEAD' }, 200],
    ['OPTIONS that no handler has', { path: '/echo', method: 'OPTIONS' }, 204],
    ['JSON', { path: '/only-post', ...JSON_BODY, body: '{"a":[1]}' }, 201],
    ['JSON that is none', { path: '/only-post', ...JSON_BODY, body: '{"a":' }, 500],
    ['a method that a handler has not', { path: '/only-post' }, 405],
    ['what varies by what a hook says', { path: '/echo', headers: { origin: 'https://a.example' } }, 200],
    ['an API route that does', { path: '/api/any', headers: { origin: 'https://a.example', ...GZIP } }, 200],
    ['a page that does', { path: '/ssr', headers: { origin: 'https://a.example' } }, 200],
    ['cookies', { path: '/handlers/cookies', headers: { cookie: 'session=me' } }, 200],
    ['notFound() in a handler', { path: '/handlers/gone' }, 404],
    ['redirect() in a handler', { path: '/handlers/moved' }, 307],
    ['a stream of events', { path: '/handlers/events' }, 200],
    ['a stream of events to who takes gzip', { path: '/handlers/events', headers: GZIP }, 200],
    ['what is worth compression', { path: '/handlers/large', headers: GZIP }, 200],
    ['the same by HEAD', { path: '/handlers/large', method: 'HEAD', headers: GZIP }, 200],
    ['the same for nobody who takes it', { path: '/handlers/large', headers: { 'accept-encoding': 'br' } }, 200],
    ['parameters that a handler changes', { path: '/deep/a/b' }, 200],
    ['another path of that route', { path: '/deep/a' }, 200],
    ['an API route', { path: '/api/any?a=1&b=2&a=3', headers: { cookie: 'session=me' } }, 200],
    ['JSON for an API route', { path: '/api/any', ...JSON_BODY, body: '{"a":[1]}' }, 200],
    ['JSON that is none for an API route', { path: '/api/any', ...JSON_BODY, body: '{"a":' }, 400],
    [
      'a form for an API route',
      {
        path: '/api/any',
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'a=1&a=2',
      },
      200,
    ],
    ['OPTIONS for an API route', { path: '/api/any', method: 'OPTIONS' }, 200],
    ['HEAD for an API route', { path: '/api/any', method: 'HEAD' }, 200],
    ['what an API route compresses', { path: `/api/any?${'a=1&'.repeat(200)}`, headers: GZIP }, 200],
    ['a body that is too big', { path: '/api/small', method: 'POST', body: 'x'.repeat(11) }, 413],
    ['a body that is as big as it may', { path: '/api/small', method: 'POST', body: 'x'.repeat(10) }, 200],
    ['a body that is read as it comes', { path: '/api/raw', method: 'POST', body: 'x'.repeat(500_000) }, 200],
    ['a redirect of an API route', { path: '/api/moved' }, 307],
    ['cookies of an API route', { path: '/api/cookies', headers: { cookie: 'session=me' } }, 200],
    ['the end of a draft', { path: '/api/cookies?draft=off' }, 200],
    ['what an API route has cached', { path: '/api/data' }, 200],
    ['a query that the router of the App Router adds', { path: '/echo?_rsc=1&a=2' }, 200],
    ['the same of an API route', { path: '/api/any?_rsc=1&a=2' }, 200],
    ['an API route with a parameter', { path: '/api/users/1?id=2&b=3' }, 200],
    ['one beside it that has a name', { path: '/api/users/me' }, 200],
    ['an API route with many', { path: '/api/rest/a/b' }, 200],
    [
      'forwarded hosts',
      { path: '/echo', headers: { 'x-forwarded-host': 'b.example', 'x-forwarded-proto': 'https' } },
      200,
    ],
    ['a page', { path: '/ssr?a=1&b=2&a=3', headers: { cookie: 'session=me', 'user-agent': 'me' } }, 200],
    ['a page to who takes gzip', { path: '/ssr', headers: GZIP }, 200],
    ['a page to a robot', { path: '/ssr', headers: { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' } }, 200],
    ['a page by HEAD', { path: '/ssr', method: 'HEAD' }, 200],
    ['a page of which a part is late', { path: '/late' }, 200],
    ['a page that is not there', { path: '/gone' }, 404],
    ['a page that leads elsewhere', { path: '/moved' }, 307],
    ['a page with a parameter', { path: '/items/1' }, 200],
    ['one beside it that has a name', { path: '/items/known' }, 200],
    ['a form', { path: '/form' }, 200],
    ['a page of the Pages Router', { path: '/old/ssr?a=1&b=2', headers: { 'user-agent': 'me' } }, 200],
    ['the same to who takes gzip', { path: '/old/ssr', headers: GZIP }, 200],
    ['the same by HEAD', { path: '/old/ssr', method: 'HEAD' }, 200],
    ['the same with a header of its own', { path: '/old/ssr?header' }, 200],
    ['the same that is not there', { path: '/old/ssr?missing' }, 404],
    ['the same that leads elsewhere', { path: '/old/ssr?go' }, 307],
  ])('%s', async (_, question, status) => {
    expect(await same(question, true)).toMatchObject({ status })
  })

  it('requests of the App Router for a page', async () => {
    await ask(direct, { path: '/ssr' })
    const headers = { rsc: '1' }
    const redirected = await same({ path: '/ssr', headers }, true)
    const location = redirected.head.find(([name]) => name === 'location')?.[1]
    const { head } = await same({ path: location ?? '/ssr?_rsc=', headers }, true)
    expect(head).toContainEqual(['Content-Type', 'text/x-component'])
  })
})

describe('is not taken for', () => {
  it.each<[string, Question, number]>([
    ['a page that was rendered at build', { path: '/' }, 200],
    ['one of the Pages Router', { path: '/old/static' }, 200],
    ['a page with a lifetime', { path: '/isr' }, 200],
    ['a page with parameters that was rendered at build', { path: '/posts/first' }, 200],
    ['a handler that was run at build', { path: '/still' }, 200],
    ['a handler of the edge', { path: '/edge' }, 200],
    ['a file', { path: '/hello.txt' }, 200],
    ['what is not there', { path: '/none' }, 404],
    ['an API route that is not there', { path: '/api/none' }, 404],
    ['what middleware keeps', { path: '/guarded' }, 401],
    ['what middleware lets through', { path: '/guarded', headers: { cookie: 'session=me' } }, 200],
    ['an API route that middleware keeps', { path: '/api/guarded' }, 401],
    ['an API route that middleware lets through', { path: '/api/guarded', headers: { cookie: 'session=me' } }, 200],
    [
      'who says that it is middleware',
      {
        path: '/guarded',
        headers: { 'x-middleware-subrequest': 'middleware:middleware:middleware:middleware:middleware' },
      },
      401,
    ],
    ['a path with a header of the configuration', { path: '/ruled' }, 200],
    ['a path with a redirect for some', { path: '/conditional' }, 200],
    ['who is redirected', { path: '/conditional', headers: { cookie: 'go=1' } }, 307],
    ['a path that is rewritten to a route', { path: '/items/rewritten' }, 200],
    ['a path that is rewritten as nothing is there', { path: '/elsewhere/a' }, 200],
    ['a slash at the end', { path: '/echo/' }, 308],
    ['a slash at the end of an API route', { path: '/api/any/' }, 308],
    ['two slashes', { path: '/api//any' }, 308],
    ['a percent sign', { path: '/api/an%79' }, 404],
    ['a percent sign in a parameter', { path: '/api/users/%2Fa' }, 200],
    ['upper case', { path: '/ECHO' }, 404],
    ['a query that Next could take for its own', { path: '/echo?__nextDataReq=1' }, 200],
    ['a query that cannot be decoded', { path: '/api/any?a=%E0%A4%A' }, 200],
    ['a draft', { path: '/echo', headers: { cookie: '__prerender_bypass=wrong' } }, 200],
    ['a header of Next', { path: '/echo', headers: { 'x-nextjs-data': '1' } }, 200],
    ['a header of middleware', { path: '/api/any', headers: { 'x-middleware-prefetch': '1' } }, 200],
    ['OPTIONS on a page', { path: '/ssr', method: 'OPTIONS' }, 400],
    ['POST on a page', { path: '/ssr', method: 'POST', body: '' }, 200],
    [
      'an unknown server action',
      { path: '/form', method: 'POST', headers: { 'next-action': 'none' }, body: '' },
      peers === 'lowest' ? 404 : 400,
    ],
    ['OPTIONS on a page of the Pages Router', { path: '/old/ssr', method: 'OPTIONS' }, 400],
    ['an odd method', { path: '/api/any', method: 'PROPFIND' }, 200],
    ['a URL that is very long', { path: `/echo?${'a=1&'.repeat(1000)}` }, 200],
  ])('%s', async (_, question, status) => {
    expect(await same(question, false)).toMatchObject({ status })
  })

  it('a page that is cached after its first request', async () => {
    const before = directs()
    for (let turn = 0; turn < 3; turn++) {
      expect(await ask(direct, { path: '/posts/second' })).toMatchObject({ status: 200 })
    }
    expect(directs()).toBe(before)
  })

  it('requests of HTTP/1.0', async () => {
    const text = 'GET /api/any HTTP/1.0\r\nhost: a\r\n\r\n'
    await rawExchange(direct, text)
    const before = directs()
    const [found, right] = [await rawExchange(direct, text), await rawExchange(plain, text)]
    const masked = (answer: string): string => answer.replace(/date: .*/i, '')
    expect(masked(found)).toBe(masked(right))
    expect(directs()).toBe(before)
  })
})

describe('a route that fails', () => {
  it.each<[string, string, Question]>([
    ['handler throws', 'a route handler', { path: '/handlers/throws' }],
    ['api throws', 'an API route', { path: '/api/throws' }],
    ['page throws', 'a page', { path: '/throws' }],
    ['old throws', 'a page of the Pages Router', { path: '/old/throws' }],
  ])('%s: %s runs once for each request, and is told of to onRequestError', async (name, _, question) => {
    // An answer of the Pages Router to a failure does not tell its route.
    if (name === 'old throws') await ask(direct, { path: `${question.path}?calm` })
    told.requestErrors = []
    const before = told.runs?.[name] ?? 0
    expect(await same(question, true)).toMatchObject({ status: 500 })
    expect(told.runs?.[name]).toBe(before + 6)
    expect(told.requestErrors).toHaveLength(6)
    const [first, ...others] = told.requestErrors
    for (const other of others) expect(other).toEqual(first)
  })

  it.each([
    ['a route handler', '/handlers/loud'],
    ['an API route', '/api/loud'],
  ])('is answered where onRequestError fails, too: %s', async (_, path) => {
    expect(await same({ path }, true)).toMatchObject({ status: 500 })
  })

  it('runs `after` once, too', async () => {
    expect(await same({ path: '/api/half' }, true)).toMatchObject({ status: 200, body: 'half' })
    expect(told.runs?.['api half']).toBe(6)
  })
})

it('calls routes without the render server if all metadata is known', async () => {
  const entrypoints = (): number => direct.nextStats()!.routerBypass!.entrypoints
  const found: Record<string, number> = {}
  for (const path of ['/echo', '/deep/a', '/api/any', '/api/users/1', '/echo?_rsc=1', '/ssr', '/old/ssr']) {
    await ask(direct, { path })
    const before = entrypoints()
    await ask(direct, { path, headers: GZIP })
    found[path] = entrypoints() - before
  }
  const ofNewest = peers === 'lowest' ? 0 : 1
  expect(found).toEqual({
    '/echo': ofNewest,
    '/deep/a': ofNewest,
    '/api/any': ofNewest,
    '/api/users/1': ofNewest,
    '/echo?_rsc=1': 0,
    '/ssr': ofNewest,
    '/old/ssr': ofNewest,
  })
})

it('a handler revalidates data that another one has cached', async () => {
  const data = { path: '/handlers/data' }
  const { body } = await same(data, true)
  expect(await same({ ...data, method: 'POST' }, true)).toMatchObject({ body: 'revalidated' })
  expect((await same(data, true)).body).not.toBe(body)
})

it.each<[string, Question]>([
  ['revalidatePath', { path: '/handlers/revalidate', method: 'POST' }],
  ['res.revalidate', { path: '/api/revalidate' }],
])('%s takes effect', async (_, question) => {
  const page = async (): Promise<{ isKept: boolean; id: string | undefined }> => {
    const { head, body } = await ask(direct, { path: '/isr' })
    const isKept = head.some(([name, value]) => name === 'x-nextjs-cache' && value === 'HIT')
    return { isKept, id: /Render (?:<!-- -->)?([\w-]{36})/.exec(body)?.[1] }
  }
  await same(question, true)
  // Next 15 forgets that a page was revalidated while it stores it.
  await expect.poll(page, patient).toMatchObject({ isKept: true })
  const { id } = await page()
  const asked = directs()
  await ask(direct, question)
  expect(directs()).toBe(asked + 1)
  // It lets its answer out before that is done, too.
  await expect.poll(async () => (await page()).id, patient).not.toBe(id)
  expect(id).toMatch(/-/)
})

it('ends a stream when its client disconnects', async () => {
  const path = '/handlers/endless'
  delete told.endless
  expect((await ask(direct, { path })).body).toBe('more\n')
  const before = directs()
  const leaving = new AbortController()
  const response = await fetch(originOf(direct) + path, { signal: leaving.signal })
  expect((await response.body!.getReader().read()).done).toBe(false)
  expect(directs()).toBe(before + 1)
  leaving.abort()
  await expect.poll(() => told.endless?.left, patient).toBe(true)
})

it.each(['/api/raw', '/api/any', '/echo'])('a client that leaves while it sends does no harm: %s', async (path) => {
  const right = await ask(direct, { path, method: 'POST', body: 'abc' })
  const before = directs()
  const socket = connect((direct.server.address() as AddressInfo).port)
  socket.write(`POST ${path} HTTP/1.1\r\nhost: app.example\r\ncontent-length: 100\r\n\r\nabc`)
  await expect.poll(() => directs(), patient).toBe(before + 1)
  socket.destroy()
  await once(socket, 'close')
  expect(comparable(await ask(direct, { path, method: 'POST', body: 'abc' }))).toEqual(comparable(right))
})

it('sends each of many concurrent requests its own response', async () => {
  const numbers = Array.from({ length: 40 }, (_, index) => index)
  for (const path of ['/items/first', '/api/users/first', '/echo']) {
    await ask(direct, { path })
  }
  const before = directs()
  const answers = await Promise.all(
    numbers.map((number) => ask(direct, { path: `/echo?number=${number}`, method: 'POST', body: `body ${number}` })),
  )
  for (const [number, { body }] of answers.entries()) {
    expect(JSON.parse(body)).toMatchObject({ path: `/echo?number=${number}`, body: `body ${number}` })
  }
  expect(directs()).toBe(before + 40)
})

it('inject() goes directly, too', async () => {
  const payload = { a: 1 }
  await direct.inject({ method: 'POST', url: '/echo', payload })
  const before = directs()
  const [found, right] = await Promise.all(
    [direct, plain].map((app) => app.inject({ method: 'POST', url: '/echo', payload })),
  )
  expect(found!.json()).toEqual(right!.json())
  expect(directs()).toBe(before + 1)
})

it("with 'api' pages are asked of Next's router server", async () => {
  const app = await serve({ bypassRouter: 'handlers' })
  const found: [string, number][] = []
  for (const path of ['/echo', '/api/any', '/api/users/1', '/ssr', '/old/ssr', '/items/1']) {
    for (let turn = 0; turn < 2; turn++) {
      await ask(app, { path })
    }
    found.push([path, directs(app)])
  }
  expect(found.map(([, count]) => count)).toEqual([1, 2, 3, 3, 3, 3])
})

it('serves cached pages from the response cache, and renders others directly', async () => {
  for (const path of ['/', '/echo', '/ssr', '/isr', '/api/any']) {
    for (let turn = 0; turn < 4; turn++) {
      const [found, right] = [await ask(remembering, { path }), await ask(plain, { path })]
      expect({ path, turn, ...comparable(found) }).toEqual({ path, turn, ...comparable(right) })
    }
  }
  expect(directs(remembering)).toBe(9)
  // Each was asked of Next once, from whose answer it was seen what it is.
  expect(remembering.nextStats()!.responseCache!).toMatchObject({ misses: 5, stored: 2, hits: 6 })
})

// The last one, as it closes the app.
it('close() waits for `after`', async () => {
  told.afterIsDone = 0
  await ask(direct, { path: '/handlers/after' })
  const before = directs()
  expect((await ask(direct, { path: '/handlers/after' })).body).toBe('answered')
  expect(directs()).toBe(before + 1)
  expect(told.afterIsDone).toBeLessThan(2)
  // Next is closed with the last of them.
  await Promise.all(served.map((app) => app.close()))
  expect(told.afterIsDone).toBe(2)
})

function originOf(app: FastifyInstance): string {
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}
