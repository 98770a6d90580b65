import { expect, it } from 'vitest'
import { resolveRace } from '../../../src/options/resolve.ts'
import { leadFor } from '../../../src/race/connections.ts'
import type { Connections } from '../../../src/race/stage-context.ts'

const race = resolveRace({ a: './a.ts', b: './b.ts' }, { path: '/' })
const usedBefore = (milliseconds: number): Connections => ({
  session: undefined as unknown as Connections['session'],
  lastUsed: performance.now() - milliseconds,
})

it.each([
  ['no load after 4 s', 4000, 60e6, 0],
  ['0.1 s of load after 6 s', 6000, 60e6, 100],
  ['three rounds of load after 7.5 s', 7500, 60e6, 600],
  ['three rounds of load on its first connections', Number.POSITIVE_INFINITY, 60e6, 600],
  ['no load after 1 s with a large heap', 1000, 160e6, 0],
  ['three rounds of load after 2 s with a large heap', 2000, 160e6, 600],
])('a process has %s', (_, waited, rss, lead) => {
  const connections = usedBefore(waited)
  expect(leadFor(race, connections, { connections: new Map([['page', connections]]) }, rss)).toBe(lead)
})

it('rounds of another case keep a process warm, but not connections that are new', () => {
  const connections = new Map([
    ['page', usedBefore(9000)],
    ['file', usedBefore(500)],
    ['new', usedBefore(Number.POSITIVE_INFINITY)],
  ])
  const leads = [...connections.values()].map((open) => leadFor(race, open, { connections }, 160e6))
  expect(leads).toEqual([0, 0, 600])
})
