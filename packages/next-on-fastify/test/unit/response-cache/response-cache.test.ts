import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  IncomingMessage,
  ServerResponse,
} from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as endOfTurn, setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ResponseCache, type ResponseCacheLimits } from '../../../src/response-cache/response-cache.ts'
import { cacheLimits } from '../../helpers/cache-limits.ts'
import { observedHandler } from '../../../src/next/page-cache/observed-cache-handler.ts'

type Found = Awaited<ReturnType<InstanceType<Parameters<typeof observedHandler>[0]>['get']>>

/** What Next's cache has, by key. */
const cache = new Map<string, Found>()
const Handler = observedHandler(
  class {
    async get(key: string): Promise<Found> {
      return cache.get(key) ?? null
    }
    async set(key: string, value: { kind?: string } | null): Promise<void> {
      cache.set(key, page({ value: { ...value } }))
    }
    async revalidateTag(): Promise<void> {}
  },
)
const handler = new Handler({})

/** One that has stored what it is given only when it is told to end. */
function slowHandler(): { slow: InstanceType<typeof Handler>; end: () => void } {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const Slow = observedHandler(
    class {
      async get(): Promise<Found> {
        return null
      }
      async set(): Promise<void> {
        await promise
      }
      async revalidateTag(): Promise<void> {}
    },
  )
  return { slow: new Slow({}), end }
}

function page(more: object = {}): Found {
  const value = { kind: 'APP_PAGE', headers: { 'x-next-cache-tags': 'a,b' } }
  return { lastModified: Date.now(), cacheControl: { revalidate: 3600 }, value, ...more }
}

type Answer = (response: ServerResponse) => Promise<void> | void

/** What Next answers unless a test says otherwise. */
const fromPage: Answer = async (response) => {
  await handler.get('/page', { kind: 'APP_PAGE' })
  send(response)
}

function send(response: ServerResponse, headers: Record<string, string | string[]> = {}, status = 200): void {
  response.statusCode = status
  for (const [name, value] of Object.entries({ 'x-nextjs-cache': 'HIT', ETag: '"a"', ...headers })) {
    response.setHeader(name, value)
  }
  response.write('the ')
  response.end('page')
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

interface Served {
  readonly memory: ResponseCache
  ask(path?: string, headers?: IncomingHttpHeaders, method?: string): Promise<string>
  readonly port: number
  renders: number
}

async function serve(
  answer: Answer = fromPage,
  limits: Partial<ResponseCacheLimits> = {},
  before: Answer = () => {},
  isMade = false,
): Promise<Served> {
  cache.set('/page', page())
  const build = {
    dir: '/nowhere',
    distDir: '/nowhere',
    isConditional: () => false,
    coveringRules: [],
    isBot: (userAgent: string | undefined) => userAgent === 'a bot',
    isProxied: () => false,
    isAlwaysProxied: () => false,
    isMade: () => isMade,
    lifetimeOf: () => undefined,
    fileOf: (path: string) => path,
    staticPage: () => undefined,
    etagOf: () => '',
  }
  const memory = new ResponseCache(build, cacheLimits(limits))
  const server = createServer((request, response) => {
    void before(response)
    const next = async (_: unknown, own: ServerResponse): Promise<void> => {
      served.renders++
      await answer(own)
    }
    void memory.serve(next, request, response)
  })
  server.listen(0)
  await once(server, 'listening')
  closing.push(() => {
    memory.close()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const served: Served = {
    memory,
    port,
    renders: 0,
    ask: (path = '/', headers = {}, method = 'GET') =>
      new Promise((resolve, reject) => {
        const sent = httpRequest({ port, path, method, headers: { host: 'a', ...headers } }, (response) => {
          void text(response).then((body) => resolve(`${response.statusCode} ${body}`), reject)
        })
        sent.on('error', reject)
        sent.end()
      }),
  }
  return served
}

/** Asks twice: the second answer shows whether the first was kept. */
async function isKept(served: Served): Promise<boolean> {
  await served.ask()
  await served.ask()
  const { hits } = served.memory.stats
  return hits === 1 && served.renders === 1
}

it('Next responds to every request of a bot', async () => {
  const served = await serve()
  const asBot = (): Promise<string> => served.ask('/', { 'user-agent': 'a bot' })
  await asBot()
  await served.ask()
  await served.ask('/', { 'user-agent': 'a browser' })
  expect(served.renders).toBe(2)
  await asBot()
  expect([served.renders, served.memory.stats.bypasses]).toEqual([3, { bot: 2 }])
})

describe('a response is stored', () => {
  it('if it is a page that Next has found in its cache', async () => {
    const served = await serve()
    expect(await isKept(served)).toBe(true)
    expect(await served.ask()).toBe('200 the page')
  })

  it.each<[string, string, Answer]>([
    [
      'of another status',
      'status',
      async (response) => {
        await handler.get('/page', {})
        send(response, {}, 404)
      },
    ],
    [
      'that has not come from the cache',
      'next-miss',
      async (response) => {
        await handler.get('/page', {})
        send(response, { 'x-nextjs-cache': 'MISS' })
      },
    ],
    ['for which nothing was read', 'reads', (response) => send(response)],
    [
      'for which two pages were read',
      'reads',
      async (response) => {
        await handler.get('/page', {})
        await fromPage(response)
      },
    ],
    [
      'for which data was read',
      'reads',
      async (response) => {
        cache.set('data', { value: { kind: 'FETCH' } })
        await handler.get('data', {})
        send(response)
      },
    ],
    [
      'that sets a cookie',
      'cookie',
      async (response) => {
        await handler.get('/page', {})
        send(response, { 'set-cookie': ['a=b'] })
      },
    ],
    [
      'that is private',
      'private',
      async (response) => {
        await handler.get('/page', {})
        send(response, { 'cache-control': 'max-age=1, private' })
      },
    ],
    [
      'that nobody may store',
      'private',
      async (response) => {
        await handler.get('/page', {})
        send(response, { 'cache-control': 'no-store' })
      },
    ],
    [
      'that differs by a header',
      'vary',
      async (response) => {
        await handler.get('/page', {})
        send(response, { vary: 'rsc, cookie' })
      },
    ],
    [
      'of an unknown coding',
      'vary',
      async (response) => {
        await handler.get('/page', {})
        send(response, { 'content-encoding': 'br' })
      },
    ],
    [
      'of which a part is made for each request',
      'partial',
      async (response) => {
        cache.set('/page', page({ value: { kind: 'APP_PAGE', postponed: 'state' } }))
        await fromPage(response)
      },
    ],
    [
      'that stands in for a page',
      'partial',
      async (response) => {
        await handler.get('/page', { isFallback: true })
        send(response)
      },
    ],
    [
      'whose lifetime is not known',
      'lifetime',
      async (response) => {
        cache.set('/page', page({ cacheControl: undefined }))
        await fromPage(response)
      },
    ],
    [
      'whose lifetime is out',
      'lifetime',
      async (response) => {
        cache.set('/page', page({ lastModified: Date.now() - 7_200_000 }))
        await fromPage(response)
      },
    ],
    [
      'that must be made anew',
      'lifetime',
      async (response) => {
        cache.set('/page', page({ lastModified: -1 }))
        await fromPage(response)
      },
    ],
    [
      'whose headers do not come one by one',
      'headers',
      async (response) => {
        await handler.get('/page', {})
        response.writeHead(200, { 'x-nextjs-cache': 'HIT' }).end('page')
      },
    ],
    [
      'that says how the connection goes on',
      'headers',
      async (response) => {
        await handler.get('/page', {})
        send(response, { connection: 'close' })
      },
    ],
  ])('but not one %s', async (_, why, answer) => {
    const served = await serve(answer)
    expect(await isKept(served)).toBe(false)
    const { stored, entries, notStored, bypasses } = served.memory.stats
    expect({ stored, entries, notStored }).toEqual({
      stored: 0,
      entries: 0,
      notStored: { [why]: 2 - (bypasses['uncacheable'] ?? 0) },
    })
  })

  it('but not one whose client has left', async () => {
    const gone = Promise.withResolvers<void>()
    const served = await serve(async (response) => {
      await handler.get('/page', {})
      response.setHeader('x-nextjs-cache', 'HIT')
      response.write('the ')
      await gone.promise
      response.end('page')
    })
    const sent = httpRequest({ port: served.port, path: '/', headers: { host: 'a' } })
    sent.on('error', () => {})
    sent.end()
    await once(sent, 'response')
    sent.destroy()
    while (served.memory.stats.notStored.aborted === undefined) {
      await wait(10)
    }
    gone.resolve()
    expect(served.memory.stats.entries).toBe(0)
  })

  it('but not with headers of the app that Next has changed', async () => {
    const served = await serve(fromPage, {}, (response) => void response.setHeader('etag', '"of the app"'))
    expect(await isKept(served)).toBe(false)
    expect(served.memory.stats.notStored).toEqual({ headers: 1 })
  })

  it('and bypassed if the app has set a header that it contains', async () => {
    let own = false
    const served = await serve(fromPage, {}, (response) => void (own && response.setHeader('etag', '"of the app"')))
    expect(await isKept(served)).toBe(true)
    own = true
    await served.ask()
    expect([served.renders, served.memory.stats.notStored]).toEqual([2, { headers: 1 }])
  })

  it('and bypassed if Next skips a header of the app', async () => {
    let own = true
    const ask = async (): Promise<string | null> => {
      const answer = await fetch(`http://localhost:${served.port}`, { headers: { 'accept-encoding': '' } })
      await answer.text()
      return answer.headers.get('x-of-handler')
    }
    const fromHandler: Answer = async (response) => {
      if (!response.hasHeader('x-of-handler')) response.setHeader('x-of-handler', 'of Next')
      await fromPage(response)
    }
    const served = await serve(fromHandler, {}, (response) => void (own && response.setHeader('x-of-handler', 'own')))
    const answers: (string | null)[] = []
    for (own of [true, true, false, false, true]) answers.push(await ask())
    expect([answers, served.renders]).toEqual([['own', 'own', 'of Next', 'of Next', 'own'], 2])
  })
})

describe('a change during a rendering', () => {
  it.each<[string, () => Promise<void>]>([
    ['the page', () => handler.set('/page', { kind: 'APP_PAGE' }, {})],
    ['another page', () => handler.set('/other', { kind: 'PAGES' }, {})],
    ['a page that is not there any more', () => handler.set('/page', null, {})],
    ['a tag', () => handler.revalidateTag('any')],
  ])('keeps it from being kept: %s', async (_, change) => {
    let changes = true
    const served = await serve(async (response) => {
      await handler.get('/page', {})
      if (changes) await change()
      send(response)
    })
    await served.ask()
    expect(served.memory.stats).toMatchObject({ entries: 0, notStored: { changed: 1 } })
    changes = false
    cache.set('/page', page())
    await served.ask()
    expect(served.memory.stats.entries).toBe(1)
  })

  it('does so until the change is made', async () => {
    const { slow, end } = slowHandler()
    const writing = slow.set('/page', { kind: 'APP_PAGE' }, {})
    const served = await serve()
    await served.ask()
    end()
    await writing
    expect(served.memory.stats).toMatchObject({ stored: 1, invalidated: 1, entries: 0 })
  })

  it('does not if it is data that pages fetch', async () => {
    const served = await serve(async (response) => {
      await handler.get('/page', {})
      await handler.set('data', { kind: 'FETCH' }, {})
      send(response)
    })
    expect(await isKept(served)).toBe(true)
  })
})

describe('a cached response is deleted', () => {
  it.each<[string, () => Promise<void>, boolean]>([
    ['when its page is made anew', () => handler.set('/page', { kind: 'APP_PAGE' }, {}), true],
    ['when one of its tags is revalidated', () => handler.revalidateTag(['b']), true],
    ['and not by another page', () => handler.set('/other', { kind: 'APP_PAGE' }, {}), false],
    ['and not by another tag', () => handler.revalidateTag('c'), false],
  ])('%s', async (_, change, dropped) => {
    const served = await serve()
    expect(await isKept(served)).toBe(true)
    await change()
    expect(served.memory.stats.entries).toBe(dropped ? 0 : 1)
  })

  it('when a tag expires that was revalidated before it was made', async () => {
    const served = await serve()
    await handler.revalidateTag('a', { expire: 0.5 })
    expect(await isKept(served)).toBe(true)
    await wait(600)
    await served.ask()
    expect(served.renders).toBe(2)
  })

  it('when its lifetime is out', async () => {
    const served = await serve()
    cache.set('/page', page({ cacheControl: { revalidate: 3600, expire: 0.5 } }))
    expect(await isKept(served)).toBe(true)
    await wait(600)
    await served.ask()
    expect(served.renders).toBe(2)
  })
})

describe('a client that has the page', () => {
  const unmodified: Answer = async (response) => {
    await handler.get('/page', {})
    send(response, {}, 304)
  }

  it('gets the 304 that Next sent to another client', async () => {
    const served = await serve(unmodified)
    const asked = ['"a"', 'W/"a"', '"a"'].map((etag) => () => served.ask('/', { 'if-none-match': etag }))
    for (const ask of asked) {
      expect(await ask()).toBe('304 ')
    }
    expect(served.renders).toBe(1)
  })

  it('gets no 304 for another entity tag', async () => {
    const served = await serve(unmodified)
    await served.ask('/', { 'if-none-match': '"b"' })
    expect(served.memory.stats).toMatchObject({ entries: 0, notStored: { condition: 1 } })
  })

  it('gets the page if it has another one', async () => {
    const served = await serve()
    await served.ask()
    expect(await served.ask('/', { 'if-none-match': '"old"' })).toBe('200 the page')
    expect(served.renders).toBe(1)
  })

  it('gets a 304 from Next until one is cached', async () => {
    const served = await serve()
    await served.ask()
    await served.ask('/', { 'if-none-match': '"a"' })
    expect(served.renders).toBe(2)
  })
})

describe('the cache is bounded', () => {
  it('by the number of responses: the least recently used one is deleted', async () => {
    const served = await serve(fromPage, { maxEntries: 2 })
    for (const path of ['/1', '/2', '/1', '/3', '/1', '/2']) {
      await served.ask(path)
    }
    expect([served.memory.stats.entries, served.renders]).toEqual([2, 4])
  })

  it('by their bytes', async () => {
    const served = await serve(fromPage, { maxBytes: 3000 })
    for (const path of ['/1', '/2', '/3', '/4']) {
      await served.ask(path)
    }
    const { entries, bytes } = served.memory.stats
    expect([entries, bytes < 3000]).toEqual([2, true])
  })

  it('by the size of one response', async () => {
    const served = await serve(fromPage, { maxEntryBytes: 7 })
    expect(await isKept(served)).toBe(false)
    expect(served.memory.stats.notStored).toEqual({ 'too-big': 1 })
  })
})

describe('a path with an uncacheable response', () => {
  const forEachVisitor: Answer = (response) => send(response, { 'cache-control': 'private' })

  it('is left to Next for a second', async () => {
    const served = await serve(forEachVisitor)
    for (const query of ['', '?a', '?b']) await served.ask(`/${query}`)
    expect(served.memory.stats).toMatchObject({ misses: 1, bypasses: { uncacheable: 2 }, notStored: { private: 1 } })
  })

  it('is looked at again then', async () => {
    let answer = forEachVisitor
    const served = await serve((response) => answer(response))
    await served.ask()
    answer = fromPage
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
    try {
      await served.ask()
      await served.ask()
    } finally {
      vi.useRealTimers()
    }
    expect(served.memory.stats).toMatchObject({ hits: 1, stored: 1 })
  })

  it('is separate from App Router requests for the same path', async () => {
    let answer = forEachVisitor
    const served = await serve((response) => answer(response))
    await served.ask()
    answer = fromPage
    const headers = { rsc: '1', 'next-router-prefetch': '1' }
    await served.ask('/?_rsc=a', headers)
    await served.ask('/?_rsc=a', headers)
    expect(served.memory.stats).toMatchObject({ hits: 1, stored: 1 })
  })

  it('is recorded each time if the next response may differ', async () => {
    const served = await serve(async (response) => {
      await handler.get('/page', {})
      send(response, { 'x-nextjs-cache': 'MISS' })
    })
    await served.ask()
    await served.ask()
    expect(served.memory.stats).toMatchObject({ misses: 2, bypasses: {}, notStored: { 'next-miss': 2 } })
  })
})

describe('a page that Next regenerates', () => {
  const whileMade: Answer = async (response) => {
    await handler.get('/page', {})
    send(response, { 'x-nextjs-cache': 'STALE' })
  }
  const old = (more: object = {}): Found => page({ lastModified: Date.now() - 7_200_000, ...more })

  async function serveOld(answer = whileMade, found = old()): Promise<Served> {
    const served = await serve(answer)
    cache.set('/page', found)
    await served.ask()
    return served
  }

  it('is shown as it was until that is done', async () => {
    const served = await serveOld()
    await served.ask()
    expect([served.renders, served.memory.stats.hits]).toEqual([1, 1])
    await handler.set('/page', { kind: 'APP_PAGE' }, {})
    await served.ask()
    expect(served.renders).toBe(2)
  })

  it('is shown as it was until it is revalidated', async () => {
    const served = await serveOld()
    await handler.revalidateTag('b')
    await served.ask()
    expect(served.renders).toBe(2)
  })

  it.each([
    [9, 1],
    [11, 2],
  ])('is asked of Next again in case that it never is: after %i s, %i times', async (seconds, renders) => {
    const served = await serveOld()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 })
    try {
      await served.ask()
    } finally {
      vi.useRealTimers()
    }
    expect(served.renders).toBe(renders)
  })

  it('is shown as it was while data are read to make it', async () => {
    const served = await serveOld(async (response) => {
      await handler.get('/page', {})
      cache.set('data', { value: { kind: 'FETCH' } })
      await handler.get('data', {})
      await handler.get('/page', {})
      send(response, { 'x-nextjs-cache': 'STALE' })
    })
    await served.ask()
    expect(served.renders).toBe(1)
  })

  it.each<[string, string, Answer, Found?]>([
    [
      'that was made before the answer had left',
      'changed',
      async (response) => {
        await whileMade(response)
        await handler.set('/page', { kind: 'APP_PAGE' }, {})
        cache.set('/page', old())
      },
    ],
    ['of which nothing was read', 'next-miss', (response) => send(response, { 'x-nextjs-cache': 'STALE' })],
    [
      'after which another one was read',
      'reads',
      async (response) => {
        await handler.get('/page', {})
        cache.set('/other', page())
        await handler.get('/other', {})
        send(response, { 'x-nextjs-cache': 'STALE' })
      },
    ],
    [
      'before which data were read',
      'reads',
      async (response) => {
        cache.set('data', { value: { kind: 'FETCH' } })
        await handler.get('data', {})
        await whileMade(response)
      },
    ],
    ['that may be shown no more', 'lifetime', whileMade, old({ cacheControl: { revalidate: 1, expire: 7200 } })],
    ['that is of an unknown age', 'lifetime', whileMade, old({ lastModified: undefined })],
    ['that was revalidated', 'lifetime', whileMade, old({ lastModified: -1 })],
    ['whose lifetime is not known', 'lifetime', whileMade, old({ cacheControl: undefined })],
    ['with parts for each request', 'partial', whileMade, old({ value: { kind: 'APP_PAGE', postponed: 'state' } })],
  ])('is left to Next if it is one %s', async (_, why, answer, found = old()) => {
    const served = await serveOld(answer, found)
    await served.ask()
    const { notStored, bypasses } = served.memory.stats
    expect([served.renders, notStored]).toEqual([2, { [why]: 2 - (bypasses['uncacheable'] ?? 0) }])
  })

  describe('is stored', () => {
    it.each<[string, boolean]>([
      ['before its answer has left', true],
      ['after that', false],
    ])('and shown as it was until that is done, if it was made %s', async (_, isQuick) => {
      const { slow, end } = slowHandler()
      const made = Promise.withResolvers<void>()
      const stored = Promise.withResolvers<void>()
      const served = await serveOld(async (response) => {
        await handler.get('/page', {})
        const store = (): Promise<void> => slow.set('/page', { kind: 'APP_PAGE' }, {}).finally(stored.resolve)
        if (isQuick) void store()
        else void made.promise.then(store)
        send(response, { 'x-nextjs-cache': 'STALE' })
      })
      made.resolve()
      await wait(0)
      await served.ask()
      expect(served.renders).toBe(1)
      end()
      await stored.promise
      await served.ask()
      expect(served.renders).toBe(2)
    })

    it('and left to Next if it is by another one', async () => {
      const { slow, end } = slowHandler()
      const served = await serveOld()
      const storing = slow.set('/page', { kind: 'APP_PAGE' }, {})
      await served.ask()
      expect(served.renders).toBe(2)
      end()
      await storing
    })

    it('and left to Next if another page is stored for it', async () => {
      const { slow, end } = slowHandler()
      const served = await serveOld(async (response) => {
        await handler.get('/page', {})
        void slow.set('/other', { kind: 'APP_PAGE' }, {})
        send(response, { 'x-nextjs-cache': 'STALE' })
      })
      expect(served.memory.stats).toMatchObject({ entries: 0, notStored: { changed: 1 } })
      end()
    })
  })

  it('is left to Next if another process has made it meanwhile', async () => {
    let isCurrent = true
    const served = await serveOld(whileMade, old({ version: { isCurrent: () => isCurrent } }))
    await served.ask()
    expect(served.renders).toBe(1)
    isCurrent = false
    await served.ask()
    expect(served.renders).toBe(2)
  })
})

describe('concurrent requests', () => {
  const slowly: Answer = async (response) => {
    await wait(30)
    await fromPage(response)
  }
  /** A memory that has kept the page, and keeps it no longer. */
  async function serveDropped(answer: Answer): Promise<Served> {
    let current = fromPage
    const served = await serve((response) => current(response))
    await served.ask()
    await handler.set('/page', { kind: 'APP_PAGE' }, {})
    cache.set('/page', page())
    served.renders = 0
    current = answer
    return served
  }
  /** Renders once this many requests are asked of Next. */
  function renderedTogether(served: () => Served, count: number): Answer {
    const all = Promise.withResolvers<void>()
    return async (response) => {
      if (served().renders === count) all.resolve()
      await all.promise
      await fromPage(response)
    }
  }
  const askAtOnce = (served: Served, count = 5): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => served.ask()))

  it('render once if the page was cached before', async () => {
    const served = await serveDropped(slowly)
    expect(await askAtOnce(served)).toEqual(Array.from({ length: 5 }, () => '200 the page'))
    expect([served.renders, served.memory.stats]).toMatchObject([1, { hits: 4, misses: 2 }])
  })

  it('is asked of Next once if the build has made it', async () => {
    const served = await serve(slowly, {}, () => {}, true)
    expect(new Set(await askAtOnce(served))).toEqual(new Set(['200 the page']))
    expect([served.renders, served.memory.stats.hits]).toEqual([1, 4])
  })

  it('is asked of Next by each if nobody knows whether it is for all', async () => {
    const served: Served = await serve(renderedTogether(() => served, 5))
    await askAtOnce(served)
    expect(served.renders).toBe(5)
  })

  it('is asked of Next by each, and none waits for another, once it was not for all', async () => {
    let isFirst = true
    const all = Promise.withResolvers<void>()
    const served = await serve(
      async (response) => {
        if (served.renders === 6) all.resolve()
        // Who waited for one of them would come too late.
        if (!isFirst) await all.promise
        send(response, { 'cache-control': 'private' })
      },
      {},
      () => {},
      true,
    )
    await served.ask()
    isFirst = false
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout'], now: Date.now() + 1000 })
    try {
      await askAtOnce(served)
    } finally {
      vi.useRealTimers()
    }
    expect(served.memory.stats.notStored).toEqual({ private: 6 })
  })

  it('is asked of Next twice if it was made for the first', async () => {
    let made = 0
    const served = await serveDropped(async (response) => {
      if (made++ > 0) return slowly(response)
      await wait(30)
      await handler.set('/page', { kind: 'APP_PAGE' }, {})
      cache.set('/page', page())
      send(response, { 'x-nextjs-cache': 'MISS' })
    })
    await askAtOnce(served)
    expect([served.renders, served.memory.stats]).toMatchObject([2, { hits: 3, notStored: { 'next-miss': 1 } }])
  })

  it('waits for nothing that was asked for before a change', async () => {
    const first = Promise.withResolvers<void>()
    const served = await serveDropped(async (response) => {
      if (served.renders === 1) await first.promise
      await fromPage(response)
    })
    const before = served.ask()
    while (served.renders === 0) await wait(1)
    await handler.revalidateTag('of another page')
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      expect(await served.ask()).toBe('200 the page')
    } finally {
      vi.useRealTimers()
    }
    expect(served.renders).toBe(2)
    first.resolve()
    expect(await before).toBe('200 the page')
    expect(served.memory.stats.notStored).toEqual({ changed: 1 })
  })

  it('is asked of Next by another one if who asked first leaves', async () => {
    const served = await serveDropped(async (response) => {
      if (served.renders === 1) await once(response, 'close')
      await fromPage(response)
    })
    const first = httpRequest({ port: served.port, path: '/', headers: { host: 'a' } })
    first.on('error', () => {})
    first.end()
    while (served.renders === 0) await wait(1)
    const others = askAtOnce(served)
    await wait(10)
    first.destroy()
    expect(new Set(await others)).toEqual(new Set(['200 the page']))
    expect([served.renders, served.memory.stats.notStored]).toEqual([2, { aborted: 1 }])
  })

  it('is not asked of Next for clients that have left', async () => {
    const hasLeft = Promise.withResolvers<void>()
    const served = await serveDropped(async (response) => {
      await hasLeft.promise
      send(response, { 'cache-control': 'private' })
    })
    const first = served.ask()
    while (served.renders === 0) await wait(1)
    const second = httpRequest({ port: served.port, path: '/', headers: { host: 'a' } })
    second.on('error', () => {})
    second.end()
    await wait(20)
    second.destroy()
    await wait(20)
    hasLeft.resolve()
    await first
    await wait(20)
    expect(served.renders).toBe(1)
  })

  it('is asked of Next again if who asked first is slow to read', async () => {
    const ended = Promise.withResolvers<void>()
    const served = await serveDropped(async (response) => {
      if (served.renders > 1) return fromPage(response)
      response.write('slowly')
      await ended.promise
      response.end()
    })
    const first = served.ask()
    while (served.renders === 0) await wait(1)
    expect(new Set(await askAtOnce(served))).toEqual(new Set(['200 the page']))
    expect(served.renders).toBe(2)
    ended.resolve()
    expect(await first).toBe('200 slowly')
  })

  it('render again if there is no response for 10 seconds', async () => {
    const ended = Promise.withResolvers<void>()
    const served = await serveDropped(async (response) => {
      if (served.renders === 1) await ended.promise
      await fromPage(response)
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const first = served.ask()
      while (served.renders === 0) await endOfTurn()
      let isThere = false
      const second = served.ask().finally(() => (isThere = true))
      for (let turn = 0; turn < 20; turn++) await endOfTurn()
      vi.advanceTimersByTime(9999)
      for (let turn = 0; turn < 20; turn++) await endOfTurn()
      expect([served.renders, isThere]).toEqual([1, false])
      vi.advanceTimersByTime(1)
      expect(await second).toBe('200 the page')
      ended.resolve()
      expect(await first).toBe('200 the page')
    } finally {
      vi.useRealTimers()
    }
  })

  it('are separate by the entity tag of the client', async () => {
    const served: Served = await serveDropped(renderedTogether(() => served, 3))
    await Promise.all([served.ask(), served.ask('/', { 'if-none-match': '"b"' }), served.ask('/?other')])
    expect(served.renders).toBe(3)
  })

  it('never wait for a pipelined response', async () => {
    const served = await serveDropped(slowly)
    const asked = { method: 'GET', url: '/', httpVersionMajor: 1, headers: { host: 'a' } }
    let renders = 0
    for (let turn = 0; turn < 2; turn++) {
      const request = Object.assign(new IncomingMessage(new Socket()), asked)
      void served.memory.serve(
        async () => {
          renders++
          await new Promise(() => {})
        },
        request,
        new ServerResponse(request),
      )
    }
    expect(renders).toBe(2)
    expect(await served.ask()).toBe('200 the page')
  })
})

it('writes responses of one event-loop tick together if the previous tick had several', async () => {
  const served = await serve()
  await served.ask()
  // Alone in its turn, whatever was before.
  await served.ask()
  const asked = { method: 'GET', url: '/', httpVersionMajor: 1, headers: { host: 'a' } }
  /** Two that are the first on their connections, and one that has another answer before it. */
  const askThrice = (): ServerResponse[] =>
    [true, true, false].map((isFirst) => {
      const request = Object.assign(new IncomingMessage(new Socket()), asked)
      const response = new ServerResponse(request)
      if (isFirst) response.assignSocket(new PassThrough() as unknown as Socket)
      void served.memory.serve(() => Promise.reject(new Error('Next was asked')), request, response)
      return response
    })
  const areSent = (responses: ServerResponse[]): string => responses.map(({ headersSent }) => headersSent).join()

  expect(areSent(askThrice())).toBe('true,true,true')
  const atOnce = new Set<string>()
  // The first turns are slow, as their code is new, and answers that take long to make do not wait for each other.
  for (let turn = 0; turn < 100; turn++) {
    const responses = askThrice()
    await Promise.resolve()
    atOnce.add(areSent(responses))
    await new Promise(setImmediate)
    expect(areSent(responses)).toBe('true,true,true')
  }
  expect(atOnce).toContain('false,false,true')
})
