// Next's own server and others with the same build answer the same requests: nobody may be able to tell them apart.

import { createServer, type AddressInfo } from 'node:net'
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { alike, formOf, hitsOf } from '../differential/alike.ts'
import { compare, difference, differencesOf, titleOf } from '../differential/differences.ts'
import { startForwarder } from '../differential/forwarder.ts'
import { type RunningPair, startPair } from '../differential/next-pair.ts'
import { followUps, nextRequests, type Spelling, varieties } from '../differential/next-requests.ts'
import { ask, askInTurn, cacheState, get, post, type RawAnswer, type RawRequest } from '../differential/raw-request.ts'
import {
  build,
  BUILD_TIMEOUT,
  clusters,
  freshCases,
  isLowest,
  keptCases,
  subjects,
  type Variant,
} from '../suites/next.ts'

/** `NEXT_DIFFERENTIAL=all` asks every pair of page and header, with every way to build the app. */
const all = process.env['NEXT_DIFFERENTIAL'] === 'all'

/** Of the pairs of page and header, one in so many is asked. */
const STEP = all ? 1 : 11
const LONG = all ? 3_600_000 : 600_000

const bodies = (answers: readonly RawAnswer[]): string[] => answers.map(({ body }) => body.toString())

/** How often a page had been rendered, in each answer that tells. */
const renders = (answers: readonly RawAnswer[]): number[] =>
  bodies(answers).flatMap((body) => {
    const found = /(?:Render|render|"render":) ?(?:<!-- -->)?(\d+)/.exec(body)?.[1]
    return found ? [Number(found)] : []
  })

/** How often the proxy says that it has run. */
const proxyCounts = (answers: readonly RawAnswer[]): (string | undefined)[] =>
  answers.map(({ headers }) => headers.find(([name]) => name === 'x-proxy-count')?.[1])

describe('the comparison itself', () => {
  let pair: RunningPair
  beforeAll(async () => {
    pair = await startPair('base', ['next-start', 'next-start'])
  }, BUILD_TIMEOUT)
  afterAll(() => pair?.stop())

  it('a step leaves out no header and no method', () => {
    expect(varieties % STEP === 0 && STEP > 1).toBe(false)
  })

  it('finds no difference between a server and another one of the same kind', { timeout: LONG }, async () => {
    const found = await differencesOf(pair, nextRequests(pair.facts, STEP * 4 + 1), 1, followUps)
    expect(found.differences.slice(0, 20).join('\n')).toBe('')
    expect(found.requests).toBeGreaterThan(400)
    const statuses = new Set([...found.statuses].map((line) => line.split(' ')[1]))
    expect([...statuses]).toEqual(
      expect.arrayContaining(['200', '206', '304', '307', '308', '400', '404', '405', '431', '500']),
    )
  })

  /** What a server could do wrong with the head and the body of an answer, and a request that tells. */
  const faults: Record<string, { request: RawRequest; fault: (answer: string, request: string) => string }> = {
    'another order of headers': {
      request: get('/static'),
      fault: (answer) => answer.replace(/(\r\n)(ETag: [^\r]+\r\n)(Content-Type: [^\r]+\r\n)/, '$1$3$2'),
    },
    'another case of a header': { request: get('/static'), fault: (answer) => answer.replace('ETag:', 'etag:') },
    'a header that is missing': { request: get('/static'), fault: (answer) => answer.replace(/Vary: [^\r]+\r\n/, '') },
    'a header that comes once in place of twice': {
      request: get('/static'),
      fault: (answer) => answer.replace('x-nextjs-prerender: 1\r\n', ''),
    },
    'another status': { request: get('/nothing'), fault: (answer) => answer.replace('404 Not Found', '200 OK') },
    'another reason': { request: get('/nothing'), fault: (answer) => answer.replace('404 Not Found', '404 Not found') },
    'one byte of the body': { request: get('/static'), fault: (answer) => answer.replace('<h1>Static', '<h1>static') },
    'one byte of compressed data': {
      request: get('/static', ['accept-encoding', 'gzip']),
      fault: (answer) => answer.slice(0, -20) + '~' + answer.slice(-19),
    },
    'data of React': {
      request: get('/static'),
      fault: (answer) => answer.replace(/(__next_f\.push\(\[1,")\w/, '$1~'),
    },
    'a body to HEAD': {
      request: { method: 'HEAD', target: '/small.txt' },
      fault: (answer) => answer.replace(/Content-Length: \d+/, 'Content-Length: 0'),
    },
    'no answer': { request: get('/static'), fault: () => '' },
  }

  it.each(Object.entries(faults))('finds %s', async (_, { request, fault }) => {
    const whole = await startForwarder(pair.reference, (answer) => answer)
    expect((await compare({ reference: pair.reference, candidate: whole }, request)).found).toBeUndefined()
    const faulty = await startForwarder(pair.reference, fault)
    expect((await compare({ reference: pair.reference, candidate: faulty }, request)).found).toBeDefined()
  })

  /** Memories of what Next calls a hit that are too simple: they keep answers under what these make of a request. */
  const memories: Record<string, { key: (head: string) => string; toldBy: RegExp }> = {
    'the method and the path': { key: (head) => head.split(/[? ]H?/)[0]! + head.split(/[? ]/)[1]!, toldBy: /\?/ },
    'the method and the URL': { key: (head) => head.split('HTTP/')[0]!, toldBy: /accept-encoding: gzip|rsc: 1/ },
    'all but cookies': { key: (head) => head.replaceAll(/\r\ncookie: .*/g, ''), toldBy: /cookie: / },
    'all but what asks for a part': {
      key: (head) => head.replaceAll(/\r\n(?:range|if-\w+).*/g, ''),
      toldBy: /if-|range/,
    },
    'all but slashes that are too many': { key: (head) => head.replace(/^(\w+ )\/+/, '$1/'), toldBy: /GET \/\// },
  }

  it.each(Object.entries(memories))('finds a memory by %s', { timeout: LONG }, async (_, { key, toldBy }) => {
    const kept = new Map<string, string>()
    const candidate = await startForwarder(pair.reference, (answer, request) => {
      const remembered = kept.get(key(request))
      if (remembered === undefined && answer.includes('x-nextjs-cache: HIT')) kept.set(key(request), answer)
      return remembered ?? answer
    })
    // What Next counts by itself would differ between two requests to one server.
    const requests = nextRequests(pair.facts, 3).filter((request) => toldBy.test(titleOf(request)))
    const warm = ['/isr', '/static', '/posts/first', '/old/isr'].map((target) => get(target))
    const found = await differencesOf({ reference: pair.reference, candidate }, [...warm, ...requests.slice(0, 100)], 1)
    expect(found.differences.join('\n')).toMatch(toldBy)
  })
})

/** How closely a variant is looked at. */
interface Look {
  readonly step: number
  readonly spelling?: Spelling
  /** How many of the answers came from memory at least. */
  readonly fromMemory: number
}

const variants: Partial<Record<Variant, Look>> = {
  base: { step: STEP, fromMemory: 200 },
  proxy: { step: all ? 1 : STEP * 2 + 1, fromMemory: 70 },
  i18n: {
    step: all ? 1 : STEP * 4 + 1,
    fromMemory: 50,
    spelling: { prefixes: ['', '/de'], locales: ['en', 'de', 'fr'] },
  },
  basePath: { step: all ? 1 : STEP * 4 + 1, fromMemory: 250, spelling: { prefixes: ['/base', ''] } },
  trailingSlash: { step: all ? 1 : STEP * 2 + 1, fromMemory: 400, spelling: { suffix: '/' } },
}

describe.each(Object.entries(variants) as [Variant, Look][])(
  'next-on-fastify and next start, built as %s',
  (variant, { step, spelling, fromMemory }) => {
    let pair: RunningPair
    beforeAll(async () => {
      pair = await startPair(variant, ['next-start', 'next-on-fastify'])
    }, BUILD_TIMEOUT)
    afterAll(() => pair?.stop())

    it('give the same answers to all requests, each time', { timeout: LONG }, async () => {
      const requests = nextRequests(pair.facts, step, spelling)
      const followed = all || !['proxy', 'i18n'].includes(variant)
      const found = await differencesOf(pair, requests, 2, followed ? followUps : undefined)
      expect(found.differences.slice(0, 20).join('\n')).toBe('')
      expect(found.requests).toBeGreaterThan(variant === 'base' ? 800 : 250)
      // Where nothing may be kept, the comparison shows that all went to Next.
      const hits = await hitsOf(pair)
      expect(hits).toBeGreaterThanOrEqual(fromMemory)
      // What all those headers were asked with has changed nothing for who comes later.
      const plain = requests.filter(({ headers, method }) => !headers && !method)
      expect((await differencesOf(pair, plain, 1)).differences.join('\n')).toBe('')
    })
  },
)

const ours = ['next-on-fastify', 'next-on-fastify-direct'] as const

describe.each(ours)('%s and next start, one request after the other', (candidate) => {
  let pair: RunningPair
  beforeAll(async () => {
    pair = await startPair('base', ['next-start', candidate])
  }, BUILD_TIMEOUT)
  afterAll(() => pair?.stop())

  it.each([
    ['revalidatePath', '/isr', post('/handlers/revalidate?path=/isr')],
    ['revalidatePath of a layout', '/isr', post('/handlers/revalidate?path=/&type=layout')],
    ['revalidatePath of a route', '/posts/first', post('/handlers/revalidate?path=/posts/[slug]&type=page')],
    ['revalidatePath of a route handler', '/handlers/isr', post('/handlers/revalidate?path=/handlers/isr')],
    ['revalidateTag', '/tagged', post('/handlers/revalidate?tag=numbers')],
    ['res.revalidate', '/old/isr', get('/api/revalidate?path=/old/isr')],
  ])('%s takes effect with the answer', async (_, path, revalidation) => {
    const page = [get(path), get(path), get(path, ['accept-encoding', 'gzip']), get(path, ['rsc', '1'])]
    const answers = await alike(pair, [...page, revalidation, ...page, revalidation, ...page])
    // Each time all four are the same, and newer than before.
    const counts = renders(answers.filter((_answer, index) => index % 5 < 2))
    expect(counts).toHaveLength(6)
    const [before, , then, , last] = counts as [number, number, number, number, number, number]
    expect(counts).toEqual([before, before, then, then, last, last])
    expect(last).toBeGreaterThan(then)
  })

  it.skipIf(isLowest)('revalidateTag that lets a stale answer out once', async () => {
    const answers = await alike(pair, [
      get('/tagged'),
      get('/tagged'),
      post('/handlers/revalidate?tag=numbers&stale'),
      get('/tagged'),
      // Next renders it in the background.
      1000,
      get('/tagged'),
      get('/tagged'),
    ])
    expect(cacheState(answers[3]!)).toBe('STALE')
    expect(cacheState(answers[5]!)).toBe('HIT')
  })

  it('revalidatePath leaves pages of the Pages Router alone', async () => {
    const page = get('/old/isr')
    const answers = await alike(pair, [page, page, post('/handlers/revalidate?path=/old/isr'), page, page])
    expect(new Set(renders(answers)).size).toBe(1)
  })

  it('a page is rendered again when its lifetime is over', async () => {
    const pages = ['/isr-short', '/old/isr-short'].map((path) => get(path))
    const compressed = pages.map((page) => ({ ...page, headers: [['accept-encoding', 'gzip'] as const] }))
    // Next renders in the background, within the first pause; the lifetime of two seconds ends within the second.
    const round = [...pages, 1000, ...pages, ...compressed, 2500]
    const answers = await alike(pair, [...pages, 2500, ...round, ...round])
    expect(new Set(renders(answers)).size).toBeGreaterThan(2)
    expect(new Set(answers.map(cacheState))).toContain('STALE')
  })

  it('drafts are seen by who turned them on, and by nobody else', async () => {
    const paths = ['/draft', '/isr', '/old/generated', `/_next/data/${pair.facts.buildId}/old/generated.json`]
    for (const turnOn of ['/handlers/draft/on', '/api/draft?on']) {
      const [on] = await alike(pair, [get(turnOn)])
      const cookie = on!.headers
        .filter(([name]) => name.toLowerCase() === 'set-cookie')
        .map(([, value]) => value.split(';')[0])
        .join('; ')
      expect(cookie).toMatch(/__prerender_bypass=\w+/)
      const seen = [...paths, ...paths].map((path) => get(path, ['cookie', cookie]))
      const unseen = paths.map((path) => get(path))
      const answers = await alike(pair, [...unseen, ...seen, ...unseen, get('/handlers/draft/off', ['cookie', cookie])])
      const drafts = bodies(answers).map((body) => /The draft|a draft|"draftMode":true/.test(body))
      const sees = [true, false, true, true]
      const not = [false, false, false, false]
      expect(drafts).toEqual([...not, ...sees, ...sees, ...not, false])
    }
  })

  it('HEAD and GET over one connection', async () => {
    for (const path of ['/static', '/isr', '/old/static', '/small.txt', '/handlers/cached', '/api/message']) {
      const keep: [string, string] = ['connection', 'keep-alive']
      const requests: RawRequest[] = ['HEAD', 'GET', 'HEAD', 'GET', 'HEAD'].map((method) => ({
        method,
        target: path,
        headers: [keep, ...(method === 'GET' ? [['accept-encoding', 'gzip'] as [string, string]] : [])],
      }))
      const [right, other] = await Promise.all(
        [pair.reference, pair.candidate].map((origin) => askInTurn(origin, requests)),
      )
      for (const [index, answer] of right!.entries()) {
        expect(difference([answer, pair.reference], [other![index]!, pair.candidate])).toBeUndefined()
      }
    }
  })

  // The one difference that is meant.
  it('a client that would rather have HTTP/2 is answered in HTTP/1.1, where Next ends the connection', async () => {
    const upgrade = get('/static', ['connection', 'upgrade, close'], ['upgrade', 'h2c'])
    await expect(ask(pair.reference, upgrade)).rejects.toThrow('0 of 1 answers')
    const [answer, plain] = await Promise.all([upgrade, get('/static')].map((request) => ask(pair.candidate, request)))
    expect(difference([plain!, pair.candidate], [answer!, pair.candidate])).toBeUndefined()
  })

  it('a page that is made when it is first asked for', async () => {
    const page = get('/posts/made-on-demand')
    const answers = await alike(pair, [page, page, get('/posts/made-on-demand', ['rsc', '1']), page])
    expect(answers.map(cacheState).filter((_, index) => index !== 2)).toEqual(['MISS', 'HIT', 'HIT'])
  })

  it('what is done after an answer is done', async () => {
    const answers = await alike(pair, [
      get('/handlers/after'),
      1000,
      get('/handlers/after'),
      1000,
      get('/handlers/after'),
    ])
    expect(bodies(answers)).toEqual(['{"before":0}', '{"before":1}', '{"before":2}'])
  })

  it('a form that is sent without JavaScript, which revalidates', async () => {
    const sent = await formOf(pair)
    const tagged = get('/tagged')
    const answers = await alike(pair, [tagged, tagged, sent('Ada'), tagged, tagged, sent('elsewhere'), get('/form')])
    expect(answers[2]!.status).toContain('200')
    expect(bodies(answers)[2]).toContain('Ada')
    expect(answers[5]!.status).toContain('303')
    expect(renders(answers)[3]).toBeGreaterThan(renders(answers)[1]!)
  })
})

describe.each(ours)('%s and next start, behind proxy.ts', (candidate) => {
  let pair: RunningPair
  beforeAll(async () => {
    pair = await startPair('proxy', ['next-start', candidate])
  }, BUILD_TIMEOUT)
  afterAll(() => pair?.stop())

  it('let nobody see what the proxy keeps, whoever has seen it before', async () => {
    const allowed = get('/guarded', ['cookie', 'session=1'])
    const answers = await alike(pair, [
      get('/guarded'),
      allowed,
      allowed,
      get('/guarded'),
      get('/guarded', ['rsc', '1']),
      get('/guarded', ['x-middleware-subrequest', 'proxy:proxy:proxy:proxy:proxy']),
      { method: 'HEAD', target: '/guarded' },
      get('//guarded'),
      get('/guarded/'),
      get('/%67uarded'),
    ])
    expect(answers.slice(0, 5).map(({ status }) => status.slice(9, 12))).toEqual(['401', '200', '200', '401', '401'])
  })

  it('run the proxy as often', async () => {
    const paths = ['/isr', '/posts/first', '/old/isr', '/handlers/cached', '/small.txt', '/api/message', '/proxied']
    const asked = (path: string): RawRequest[] => [
      get(path),
      get(path),
      get(path, ['accept-encoding', 'gzip']),
      get(path, ['accept-encoding', 'gzip']),
      { method: 'HEAD', target: path },
      { method: 'HEAD', target: path },
      get(path),
    ]
    const steps = paths.flatMap(asked)
    const hits = await hitsOf(pair)
    const answers = await alike(pair, steps)
    expect(proxyCounts(answers)).toEqual(steps.map((_, index) => String(Number(proxyCounts(answers)[0]) + index)))
    const etag = answers[0]!.headers.find(([name]) => name.toLowerCase() === 'etag')![1]
    const had = get('/isr', ['if-none-match', etag])
    const unmodified = await alike(pair, [had, had, had])
    expect(unmodified.map(({ status }) => status.slice(9, 12))).toEqual(['304', '304', '304'])
    expect(new Set(proxyCounts(unmodified)).size).toBe(3)
    // Of those that the proxy lets pass: files and what is made for each request are Next's.
    expect((await hitsOf(pair)) - hits).toBeGreaterThanOrEqual(5 * 4 + 2)
  })

  it('do what the proxy decides, whatever it decided before', { timeout: LONG }, async () => {
    const paths = ['/isr', '/posts/first', '/old/isr', '/old/static', '/handlers/cached', '/proxied', '/guarded']
    const ways = [
      'request',
      'plain',
      'header',
      'lifetime',
      'vary',
      'etag',
      'type',
      'encoding',
      'rsc',
      'draft',
      'status',
    ]
    const decisions = [...ways, 'rewrite', 'query', 'redirect', 'answer', 'throw', 'none', 'none', 'none', 'none']
    // Each time the same, and as if by chance.
    let seed = 1
    const pick = <T>(choices: readonly T[]): T => {
      seed = (seed * 48_271) % 2_147_483_647
      return choices[seed % choices.length]!
    }
    const steps = Array.from({ length: all ? 3000 : 400 }, (_, index): RawRequest => {
      const headers: [string, string][] = [
        ['x-decide', pick(decisions)],
        ['x-value', String(index)],
      ]
      if (pick([true, false])) headers.push(['accept-encoding', 'gzip'])
      if (pick([true, false])) headers.push(['cookie', 'session=1'])
      return { method: pick(['GET', 'GET', 'HEAD']), target: pick(paths), headers }
    })
    const hits = await hitsOf(pair)
    const answers = await alike(pair, steps)
    const statuses = new Set(answers.map(({ status }) => status.slice(9, 12)))
    expect([...statuses]).toEqual(expect.arrayContaining(['200', '203', '307', '401', '403', '500']))
    const counts = proxyCounts(answers).flatMap((count) => count ?? [])
    expect(new Set(counts).size).toBe(counts.length)
    expect((await hitsOf(pair)) - hits).toBeGreaterThan(50)
  })
})

// What is measured is the newest Next.
it.skipIf(isLowest)(
  'every subject gives the same answers to what is measured',
  { timeout: BUILD_TIMEOUT },
  async () => {
    await build()
    const { standalone: _, ...withOneBuild } = subjects
    const options = { cases: { ...keptCases, ...freshCases }, startTimeout: 60_000 }
    await expect(race({ ...withOneBuild, ...clusters }, options)).toHaveSameResponses()
  },
)

it('a server is asked as it stands here', async () => {
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${chunk.length}\r\n\r\n${chunk.toString('latin1')}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { body } = await ask(origin, get('//a/../b?%', ['X-Odd', 'one'], ['x-odd', 'two']))
  expect(body.toString()).toBe(
    'GET //a/../b?% HTTP/1.1\r\nhost: app.example\r\nX-Odd: one\r\nx-odd: two\r\nconnection: close\r\n\r\n',
  )
})
