// Upstreams that die and come back, under load. OUTAGE=60 makes the outage of the first test a minute long at least.

import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { closedLoop, type Load, openLoop, percentile } from '../helpers/load.ts'
import { remainsOf, startGateway, startUpstream } from '../helpers/processes.ts'

/** Seconds of outage, in windows between which the upstream works again. */
const OUTAGE = Number(process.env['OUTAGE'] ?? 10)
/** The most times that the p99 of the others may be what it is without the outage. */
const MOST = 1.3
/** Milliseconds: twice as long as a call may take. */
const WINDOW = 4000

/** Milliseconds of load at the limit, and beyond it. */
const OVERLOAD = 3000

const FOUR = ['/one/u0', '/one/u1', '/one/u2', '/one/u3']
const DEAD = '/one/u4'

describe('of five upstreams one that hangs', () => {
  it('does not delay the others', { timeout: 60_000 + OUTAGE * 12_000 }, async () => {
    const upstreams = await Promise.all(Array.from({ length: 5 }, () => startUpstream()))
    const gateway = await startGateway(upstreams)
    const window = async (): Promise<number> => {
      const [others, dead] = await Promise.all([
        openLoop(gateway.url, FOUR, 500, WINDOW),
        openLoop(gateway.url, [DEAD], 125, WINDOW),
      ])
      expect([...others.statuses.keys()]).toEqual([200])
      expect(dead.statuses.get(0)).toBeUndefined()
      return percentile(others.latencies, 0.99)
    }
    await window()
    const [healthy, hanging]: [number[], number[]] = [[], []]
    const delay = (): number => percentile(hanging, 0.5) / percentile(healthy, 0.5)
    // Windows of a busy machine differ by a factor of five: more of them are taken when the first do not decide.
    for (let passed = 0; passed < OUTAGE * 1000 || (passed < OUTAGE * 4000 && delay() >= MOST); passed += WINDOW) {
      healthy.push(await window())
      upstreams[4]!.process.kill('SIGSTOP')
      hanging.push(await window())
      upstreams[4]!.process.kill('SIGCONT')
      // Its circuit closes again.
      await expect.poll(async () => (await request(gateway.url + DEAD)).statusCode, { timeout: 5000 }).toBe(200)
    }
    console.log('p99 in ms, healthy and with one that hangs:', healthy, hanging)
    expect(delay()).toBeLessThan(MOST)
  })
})

describe('upstreams that all die', () => {
  it('are called again within 2 seconds after they are back', { timeout: 60_000 }, async () => {
    const upstreams = await Promise.all([startUpstream(), startUpstream()])
    const gateway = await startGateway(upstreams)
    const before = await openLoop(gateway.url, ['/all/1'], 200, 1000)
    expect([...before.statuses.keys()]).toEqual([200])
    const early = await remainsOf(gateway)
    for (const upstream of upstreams) upstream.process.kill('SIGKILL')
    await sleep(100)
    const without = await openLoop(gateway.url, ['/all/1'], 200, 3000)
    expect([...without.statuses.keys()]).toEqual([502])
    await Promise.all(upstreams.map(({ url }) => startUpstream(Number(new URL(url).port))))
    const back = performance.now()
    await expect
      .poll(async () => await (await request(`${gateway.url}/all/1`)).body.text(), { timeout: 10_000, interval: 20 })
      .toBe('{"u0":{"name":"world","account":7},"u1":{"name":"world","account":7}}')
    expect(performance.now() - back).toBeLessThan(2000)
    const after = await openLoop(gateway.url, ['/all/1'], 200, 1000)
    expect([...after.statuses.keys()]).toEqual([200])
    // On a busy machine many requests are under way at a time: the connections that those took end when they have rested.
    const sockets = async (): Promise<number> => (await remainsOf(gateway)).sockets
    await expect.poll(sockets, { timeout: 20_000, interval: 500 }).toBeLessThanOrEqual(early.sockets + 10)
    expect((await remainsOf(gateway)).timers).toBeLessThan(10)
  })
})

describe('twice as many requests as can be answered', () => {
  it.each([
    // 10 connections and some 20 ms for an answer are 500 answers a second at the most.
    { who: 'the upstream', calls: 1, path: '/slow', connections: '10', queue: '100' },
    // It has more to do for a request than the upstream, and than those who ask.
    { who: 'the gateway itself', calls: 20, path: '/all/1', connections: '16', queue: '64' },
  ])(
    'are refused in part, and the others answered at the same rate, where $who is at its limit',
    { timeout: 120_000 },
    async ({ calls, path, connections, queue }) => {
      const upstream = await startUpstream()
      const gateway = await startGateway(
        Array.from({ length: calls }, () => upstream),
        { CONNECTIONS: connections, QUEUE: queue },
      )
      const capacity = (): Promise<number> => closedLoop(gateway.url + path, 64, OVERLOAD)
      const overload = (answers: number): Promise<Load> =>
        openLoop(gateway.url, [path], (2000 * answers) / OVERLOAD, OVERLOAD)
      // Code is optimised, and so much is in memory as 2,000 clients have on their way. After that, nothing may grow.
      await capacity()
      await overload(await capacity())
      const early = await remainsOf(gateway)
      const [capacities, overloads]: [number[], number[]] = [[], []]
      const statuses = new Map<number, number>()
      // What a busy machine takes away for some seconds, it does not take each time. One that collapses answers a third.
      const isLess = (): boolean => Math.max(...overloads) <= percentile(capacities, 0.5) * 0.8
      for (let turn = 0; turn < 5 && (turn < 2 || isLess()); turn++) {
        capacities.push(await capacity())
        const load = await overload(capacities.at(-1)!)
        overloads.push(load.statuses.get(200) ?? 0)
        for (const [status, count] of load.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count)
      }
      const late = await remainsOf(gateway)
      console.log('at capacity and at twice as much:', capacities, overloads, statuses, early, late)
      expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([200, 503])
      expect(isLess()).toBe(false)
      expect(late.heap).toBeLessThan(early.heap * 1.5)
      expect(late.peak).toBeLessThan(early.peak * 1.5)
      const calm = await openLoop(gateway.url, [path], 50, OVERLOAD)
      expect([...calm.statuses.keys()]).toEqual([200])
    },
  )
})
