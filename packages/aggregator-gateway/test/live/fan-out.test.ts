import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { gateway } from '../helpers/servers.ts'
import { startUpstream } from '../helpers/processes.ts'

const ITEMS = 1000
const REQUESTS = 20

it('a list of 1,000 items under a connection limit does not block the event loop', async () => {
  const { url: origin } = await startUpstream()
  const calls = {
    one: { upstream: 'it', path: '/count?of={item}', forEach: { items: '{body.ids}', concurrency: 100 } },
  }
  const app = await gateway({
    upstreams: { it: { origin, maxConnections: 8, maxQueue: 16 } },
    endpoints: [{ path: '/', method: 'POST', timeout: 60_000, calls }],
  })
  const payload = { ids: Array.from({ length: ITEMS }, (_, id) => `item-${id}`) }
  const request = async (): Promise<number> => {
    const { json } = await app.inject({ method: 'POST', url: '/', payload })
    return new Set(json<{ one: { count: number }[] }>().one.map(({ count }) => count)).size
  }
  // Optimizes the code.
  expect(await request()).toBe(ITEMS)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (let count = 0; count < REQUESTS; count++) expect(await request()).toBe(ITEMS)
  delay.disable()
  const inMilliseconds = (nanoseconds: number): number => nanoseconds / 1e6
  // A histogram of intervals: 1 ms of each is the resolution.
  expect(inMilliseconds(delay.mean)).toBeLessThan(10)
  expect(inMilliseconds(delay.percentile(90))).toBeLessThan(10)
})
