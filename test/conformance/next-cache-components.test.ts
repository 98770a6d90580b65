// `next start` and next-on-fastify with a build that has `cacheComponents`: what was made at build may have holes that are
// filled for each request, pages are put together of parts that are cached each, and who asks decides what Next makes.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alike, formOf, hitsOf } from '../differential/alike.ts'
import { cacheComponentsRequests, cacheComponentsVarieties } from '../differential/cache-components-requests.ts'
import { compare, differencesOf } from '../differential/differences.ts'
import { startForwarder } from '../differential/forwarder.ts'
import { type RunningPair, startPair } from '../differential/next-pair.ts'
import { followUps } from '../differential/next-requests.ts'
import { cacheState, get, post, type RawAnswer, type RawRequest } from '../differential/raw-request.ts'
import { BUILD_TIMEOUT, type Variant } from '../suites/next.ts'

/** `NEXT_DIFFERENTIAL=all` asks every pair of page and header. */
const STEP = process.env['NEXT_DIFFERENTIAL'] === 'all' ? 1 : 11
const LONG = 900_000
/** Milliseconds in which Next makes anew what it has let go out stale, or completes a shell. */
const PAUSE = 2000

type Step = RawRequest | number

const asBot = (target: string): RawRequest => get(target, ['user-agent', 'Twitterbot/1.0'])

/** What shows the numbers that `/form` and a route handler revalidate. */
const NUMBERED = ['/cached', '/cached-metadata', '/handlers/cached', '/partial', '/form', '/nested/inner']

/** Each in several ways: what can come from memory does so the second time. */
const inWays = (path: string): RawRequest[] => [
  get(path),
  get(path),
  get(path, ['accept-encoding', 'gzip']),
  get(path, ['rsc', '1']),
  asBot(path),
  get(path),
]

/** The numbers that pages of this path have shown. */
const numbersOf = (answers: readonly RawAnswer[]): number[] =>
  answers.flatMap(({ body }) => {
    const found = /umbers(?:":| ?(?:<!-- -->)?)(\d+)/.exec(body.toString())?.[1]
    return found === undefined ? [] : [Number(found)]
  })

const rendersOf = (answers: readonly RawAnswer[]): number[] =>
  answers.flatMap(({ body }) => {
    const found = /[Rr]ender (?:<!-- -->)?(\d+)/.exec(body.toString())?.[1]
    return found === undefined ? [] : [Number(found)]
  })

const variants: readonly Variant[] = ['cacheComponents', 'partialPrefetching']

it('a step leaves out no header and no method', () => {
  expect(cacheComponentsVarieties % STEP === 0 && STEP > 1).toBe(false)
})

describe.each(variants)('next-on-fastify and next start, built as %s', (variant) => {
  let pair: RunningPair
  beforeAll(async () => {
    pair = await startPair(variant, ['next-start', 'next-on-fastify'])
  }, BUILD_TIMEOUT)
  afterAll(() => pair?.stop())

  it('give the same answers to all requests, each time', { timeout: LONG }, async () => {
    const requests = cacheComponentsRequests(STEP)
    const found = await differencesOf(pair, requests, 2, followUps)
    expect(found.differences.slice(0, 20).join('\n')).toBe('')
    expect(found.requests).toBeGreaterThan(1000)
    expect(await hitsOf(pair)).toBeGreaterThan(300)
    const plain = requests.filter(({ headers, method }) => !headers && !method)
    expect((await differencesOf(pair, plain, 1)).differences.join('\n')).toBe('')
  })

  it.each<[string, (pair: RunningPair) => Promise<RawRequest>]>([
    ['revalidateTag in a route handler', async () => post('/handlers/revalidate?tag=numbers')],
    ['updateTag in a server action', async (own) => (await formOf(own))('update')],
    ['revalidatePath of a layout', async () => post('/handlers/revalidate?path=/&type=layout')],
  ])('%s takes effect with the answer', { timeout: LONG }, async (_, revalidation) => {
    const steps = NUMBERED.flatMap(inWays)
    const change = await revalidation(pair)
    const before = await hitsOf(pair)
    const seen = (path: string, answers: readonly RawAnswer[]): number[] =>
      numbersOf([answers[steps.findIndex(({ target }) => target === path)]!])
    const rounds: RawAnswer[][] = []
    for (let round = 0; round < 3; round++) {
      rounds.push(await alike(pair, steps))
      await alike(pair, [change])
    }
    for (const path of ['/cached', '/handlers/cached', '/form']) {
      const [first, second, third, ...more] = rounds.flatMap((answers) => seen(path, answers))
      expect([first! < second!, second! < third!, more]).toEqual([true, true, []])
    }
    expect(await hitsOf(pair)).toBeGreaterThanOrEqual(before + 9)
  })

  it.each<[string, string, RawRequest, boolean]>([
    ['revalidatePath of a page', '/cached', post('/handlers/revalidate?path=/cached'), true],
    ['revalidatePath of a route', '/posts/first', post('/handlers/revalidate?path=/posts/[slug]&type=page'), true],
    ['revalidateTag of one parameter', '/posts/first', post('/handlers/revalidate?tag=post-first'), true],
    // It does not say how often it was made.
    [
      'revalidatePath of a route handler',
      '/handlers/cached',
      post('/handlers/revalidate?path=/handlers/cached'),
      false,
    ],
    ['res.revalidate', '/old/isr', get('/api/revalidate?path=/old/isr'), true],
  ])('%s takes effect with the answer', { timeout: LONG }, async (_, path, revalidation, tells) => {
    // A shell that has a parameter to come is completed in the background.
    const round: Step[] = [get(path), PAUSE, ...inWays(path), revalidation]
    const answers = await alike(pair, [...round, ...round, ...round])
    const [first = 0, , last = 0] = [0, 8, 16].flatMap((at) => rendersOf(answers.slice(at, at + 1)))
    expect(last > first).toBe(tells)
  })

  it('a page is made anew when its lifetime is over', { timeout: LONG }, async () => {
    const page = get('/cached-short')
    const round: Step[] = [page, PAUSE / 2, page, get('/cached-short', ['accept-encoding', 'gzip']), 2500]
    const answers = await alike(pair, [page, 2500, ...round, ...round, ...round])
    expect(new Set(rendersOf(answers)).size).toBeGreaterThan(2)
  })

  it('a shell is completed for a parameter that nobody knew', { timeout: LONG }, async () => {
    const paths = [
      '/posts/later',
      '/posts/FIRST',
      '/posts/nothing',
      '/posts/[slug]',
      '/shop/books/two',
      '/shop/toys/one',
    ]
    for (const path of paths) {
      await alike(pair, [get(path), PAUSE, get(path), PAUSE, ...inWays(path), asBot(path)])
    }
    const revalidation = post('/handlers/revalidate?tag=posts')
    const steps = [get('/posts/later'), PAUSE, get('/posts/later'), get('/posts/later', ['rsc', '1'])]
    await alike(pair, [revalidation, ...steps, asBot('/posts/later'), revalidation, ...steps])
    // Whoever comes first, also if it is a bot.
    await alike(pair, [asBot('/posts/by-bot'), PAUSE, get('/posts/by-bot'), PAUSE, ...inWays('/posts/by-bot')])
  })

  it('drafts are seen by who turned them on, and by nobody else', { timeout: LONG }, async () => {
    const paths = ['/draft', '/cached', '/posts/first', '/partial', '/handlers/cached']
    const [on] = await alike(pair, [get('/handlers/draft/on')])
    const cookie = on!.headers.find(([name]) => name.toLowerCase() === 'set-cookie')![1].split(';')[0]!
    expect(cookie).toMatch(/^__prerender_bypass=\w+$/)
    // A shell that has a parameter to come is completed in the background, if what was asked before has revalidated it.
    await alike(pair, [...paths.map((path) => get(path)), PAUSE])
    const unseen = paths.flatMap((path) => [get(path), get(path)])
    const seen = paths.flatMap((path) => [get(path, ['cookie', cookie]), get(path, ['cookie', cookie])])
    const answers = await alike(pair, [...unseen, ...seen, ...unseen])
    const drafts = answers.map(({ body }) => String(body).includes('The draft'))
    expect(drafts.flatMap((is, index) => (is ? [index] : []))).toEqual([unseen.length, unseen.length + 1])
  })

  // Of what several pages show, two servers of Next's own do not agree: how often it is made anew in the background, and
  // whether a page or a handler that is made then shows the old or the new, is chance.
  it('what is stale goes out until it is made anew', { timeout: LONG }, async () => {
    const page = get('/cached')
    for (let round = 0; round < 2; round++) {
      const stale = post('/handlers/revalidate?tag=cached&stale')
      const answers = await alike(pair, [page, page, stale, page, PAUSE, page, ...inWays('/cached')])
      expect(answers.slice(3, 5).map(cacheState)).toEqual(['STALE', 'HIT'])
    }
    for (const slug of ['first', 'second']) {
      const shown = get(`/posts/${slug}`)
      const stale = post(`/handlers/revalidate?tag=post-${slug}&stale`)
      await alike(pair, [shown, PAUSE, shown, stale, shown, PAUSE, ...inWays(`/posts/${slug}`)])
    }
  })
})

describe('the comparison finds', () => {
  let pair: RunningPair
  beforeAll(async () => {
    pair = await startPair('cacheComponents', ['next-start', 'next-start'])
  }, BUILD_TIMEOUT)
  afterAll(() => pair?.stop())

  /** Memories that are too simple: of which answers they keep, under what they make of a request, and what shows that. */
  const memories: Record<
    string,
    { keeps: RegExp; key: (head: string) => string; requests: readonly RawRequest[]; toldBy: RegExp }
  > = {
    'a memory that does not look at who asks': {
      keeps: /x-nextjs-cache: HIT/,
      key: (head) => head.replace(/\r\nuser-agent: .*/, ''),
      requests: cacheComponentsRequests(STEP).filter(({ target }) => ['/', '/posts/first'].includes(target)),
      toldBy: /Twitterbot/,
    },
    'a memory of shells with what was in their holes': {
      keeps: /x-nextjs-postponed: 1/,
      key: (head) => head,
      requests: [get('/partial'), get('/partial'), get('/dynamic'), get('/dynamic')],
      toldBy: /GET \/partial/,
    },
    'a memory of shells for whoever has a cookie': {
      keeps: /x-nextjs-postponed: 1/,
      key: (head) => head.replace(/\r\ncookie: .*/, ''),
      requests: ['a', 'b'].map((name) => get('/shop/books/one', ['cookie', `session=${name}`])),
      toldBy: /session=b/,
    },
    'a memory that takes one segment for another': {
      keeps: /x-nextjs-cache: HIT/,
      key: (head) => head.replaceAll(/\r\nnext-router-segment-prefetch: .*/g, '').replace(/\?_rsc=\S+/, ''),
      requests: cacheComponentsRequests(STEP).filter(({ target }) => target === '/cached'),
      toldBy: /next-router-segment-prefetch/,
    },
    'a memory that does not know what was revalidated': {
      keeps: /x-nextjs-cache: HIT/,
      key: (head) => head,
      requests: [get('/cached'), post('/handlers/revalidate?tag=numbers'), get('/cached'), get('/cached')],
      toldBy: /GET \/cached/,
    },
  }

  it.each(Object.entries(memories))('%s', { timeout: LONG }, async (_, { keeps, key, requests, toldBy }) => {
    const kept = new Map<string, string>()
    let faults = 0
    const candidate = await startForwarder(pair.candidate, (answer, request) => {
      const remembered = kept.get(key(request))
      if (remembered === undefined && keeps.test(answer)) kept.set(key(request), answer)
      if (remembered !== undefined && remembered !== answer) faults++
      return remembered ?? answer
    })
    const faulty = { reference: pair.reference, candidate }
    const found = await differencesOf(faulty, requests, 1, followUps)
    expect(faults).toBeGreaterThan(0)
    expect(found.differences.join('\n')).toMatch(toldBy)
    // It is the memory that was wrong: the server behind it is none the worse.
    expect((await compare(pair, get('/cached'))).found).toBeUndefined()
  })
})
