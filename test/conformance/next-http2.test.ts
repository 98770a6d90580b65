// `next start` in HTTP/1.1 and next-on-fastify in HTTP/2: but for headers of connections, the answers are the same.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { difference, titleOf } from '../differential/differences.ts'
import { directRequests } from '../differential/direct-requests.ts'
import { askInHttp2, isSayable, withoutConnection } from '../differential/http2-request.ts'
import { type RunningPair, startPair } from '../differential/next-pair.ts'
import { followUps, nextRequests, varieties } from '../differential/next-requests.ts'
import { ask } from '../differential/raw-request.ts'
import { BUILD_TIMEOUT, type SubjectName } from '../suites/next.ts'

/** `NEXT_DIFFERENTIAL=all` asks every pair of page and header. */
const STEP = process.env['NEXT_DIFFERENTIAL'] === 'all' ? 1 : 23
const LONG = 900_000

it('a step leaves out no header and no method', () => {
  expect(varieties % STEP === 0 && STEP > 1).toBe(false)
})

interface Counts {
  readonly responseCache?: { readonly hits: number }
  readonly routerBypass?: { readonly bypassed: number }
}

/** By memory, and by the way past the router server too: what each must have answered. */
const ways: readonly [SubjectName, answered: (counts: Counts) => number | undefined][] = [
  ['next-on-fastify', ({ responseCache }) => responseCache?.hits],
  ['next-on-fastify-direct', ({ routerBypass }) => routerBypass?.bypassed],
]

describe.each(ways)('next start and %s in HTTP/2', (candidate, answered) => {
  let pair: RunningPair
  beforeAll(async () => {
    pair = await startPair('base', ['next-start', candidate], { NEXT_HTTP2: 'yes' })
  }, BUILD_TIMEOUT)
  afterAll(() => pair?.stop())

  it('give the same answers to all requests that can be said in both, each time', { timeout: LONG }, async () => {
    const requests = [...nextRequests(pair.facts, STEP), ...directRequests(STEP)].filter(isSayable)
    const queue = [...requests]
    const differences: string[] = []
    const statuses = new Set<string>()
    for (const request of queue) {
      for (let time = 1; time <= 2; time++) {
        const [right, found] = await Promise.all([ask(pair.reference, request), askInHttp2(pair.candidate, request)])
        statuses.add(right.status)
        const told = difference([withoutConnection(right), pair.reference], [withoutConnection(found), pair.candidate])
        if (told !== undefined) differences.push(`${titleOf(request)} (asked ${time}x)\n${told}`)
        if (time === 1 && requests.includes(request)) queue.push(...followUps(request, right).filter(isSayable))
      }
    }
    expect(differences.slice(0, 20).join('\n')).toBe('')
    expect(queue.length).toBeGreaterThan(400)
    expect([...statuses].map((status) => status.split(' ')[1])).toEqual(
      expect.arrayContaining(['200', '206', '304', '307', '308', '404', '405', '500']),
    )
    const { body } = await askInHttp2(pair.candidate, { target: '/fastify/stats' })
    expect(answered(JSON.parse(body.toString()) as Counts)).toBeGreaterThan(100)
  })
})
