// `next start` and next-on-fastify with `direct`: nobody may be able to tell by an answer whether Next's router server was
// asked.

import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differencesOf } from '../differential/differences.ts'
import { directRequests } from '../differential/direct-requests.ts'
import { type RunningPair, startPair } from '../differential/next-pair.ts'
import { followUps, nextRequests, type Spelling, varieties } from '../differential/next-requests.ts'
import { ask, type RawRequest } from '../differential/raw-request.ts'
import { BUILD_TIMEOUT, isLowest, type Variant } from '../suites/next.ts'

/** `NEXT_DIFFERENTIAL=all` asks every pair of route and header, with every way to build the app. */
const all = process.env['NEXT_DIFFERENTIAL'] === 'all'
const STEP = all ? 1 : 17
const LONG = all ? 3_600_000 : 900_000

interface Look {
  readonly step: number
  readonly spelling?: Spelling
  /** How many requests went directly at least. */
  readonly direct: number
  /** Why others did not, at least once for each reason. */
  readonly reasons: readonly string[]
}

const OF_REQUESTS = ['draft', 'first', 'header', 'method', 'protocol', 'query', 'url']

// With the last three there is no direct path at all.
const variants: Partial<Record<Variant, Look>> = {
  base: { step: STEP, direct: 400, reasons: OF_REQUESTS },
  proxy: { step: STEP * 2 + 1, direct: 140, reasons: ['proxy', 'url', 'first'] },
  ...(all && {
    i18n: { step: STEP, direct: 0, reasons: [], spelling: { prefixes: ['', '/de'], locales: ['en', 'de', 'fr'] } },
    basePath: { step: STEP, direct: 0, reasons: [], spelling: { prefixes: ['/base', ''] } },
    trailingSlash: { step: STEP, direct: 0, reasons: [], spelling: { suffix: '/' } },
  }),
}

interface Counts {
  readonly bypassed?: number
  readonly entrypoints?: number
  readonly routed?: Readonly<Record<string, number>>
}

async function countsOf(pair: RunningPair): Promise<Counts> {
  const { body } = await ask(pair.candidate, { target: '/fastify/stats' })
  return (JSON.parse(body.toString()) as { routerBypass?: Counts }).routerBypass ?? {}
}

it('a step leaves out no header and no method', () => {
  expect(varieties % STEP === 0 && STEP > 1).toBe(false)
})

describe.each(Object.entries(variants) as [Variant, Look][])(
  'next-on-fastify with `direct` and next start, built as %s',
  (variant, { step, spelling, direct: atLeast, reasons }) => {
    let pair: RunningPair
    beforeAll(async () => {
      pair = await startPair(variant, ['next-start', 'next-on-fastify-direct'])
    }, BUILD_TIMEOUT)
    afterAll(() => pair?.stop())

    it('give the same answers to what is made for each request, each time', { timeout: LONG }, async () => {
      const found = await differencesOf(pair, directRequests(step), 2)
      expect(found.differences.slice(0, 20).join('\n')).toBe('')
      const { bypassed: direct = 0, entrypoints = 0, routed = {} } = await countsOf(pair)
      expect(direct).toBeGreaterThanOrEqual(atLeast)
      // The App Router asks the render server, and the lowest Next calls its entry points in another way.
      const [least, most] = isLowest ? [0, 0] : [atLeast * 0.9, direct]
      expect(entrypoints).toBeGreaterThanOrEqual(least)
      expect(entrypoints).toBeLessThanOrEqual(most)
      expect(Object.keys(routed)).toEqual(expect.arrayContaining([...reasons]))
    })

    it('give the same answers to all else', { timeout: LONG }, async () => {
      const requests = nextRequests(pair.facts, step * 2 + 1, spelling)
      const found = await differencesOf(pair, requests, 2, variant === 'base' ? followUps : undefined)
      expect(found.differences.slice(0, 20).join('\n')).toBe('')
      const plain = requests.filter(({ headers, method }) => !headers && !method)
      expect((await differencesOf(pair, plain, 1)).differences.join('\n')).toBe('')
    })

    it('are not disturbed by clients that leave while they send', { timeout: LONG }, async () => {
      const targets = ['/api/echo', '/handlers/dynamic', '/api/message', '/handlers/events', '/ssr']
      for (const target of targets) {
        for (const head of [
          'content-length: 100\r\n\r\nabc',
          'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
          'x-cut: ',
        ]) {
          await Promise.all([pair.reference, pair.candidate].map((origin) => leave(origin, target, head)))
        }
      }
      const after: RawRequest[] = targets.map((target) => ({ target }))
      expect((await differencesOf(pair, after, 2)).differences.join('\n')).toBe('')
    })
  },
)

/** Begins to send a request, and leaves. */
async function leave(origin: string, target: string, head: string): Promise<void> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(`POST ${target} HTTP/1.1\r\nhost: app.example\r\ncontent-type: text/plain\r\n${head}`)
  await setTimeout(30)
  socket.destroy()
}
