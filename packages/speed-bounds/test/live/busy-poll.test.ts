import { expect, it } from 'vitest'
import { race } from '../../src/index.ts'
import { server, SMALL, spin } from '../helpers/servers.ts'

const busy = server(`${spin(2000)} response.end('ok')`)

it.each([
  ['by turns', {}],
  ['at one go', { turn: SMALL.duration }],
  ['with so many requests', { amount: 100 }],
])('a generator that stays awake is not busy while it waits for the server: %s', async (_, options) => {
  const { rounds, load } = await race({ one: busy, other: busy }, { ...SMALL, busyPoll: 50, ...options }).measure()
  expect(load.busyPoll).toBe(50)
  expect(rounds.map(({ failures }) => failures)).toEqual([0, 0, 0, 0])
  for (const { generatorUtilisation, bottleneck } of rounds) {
    expect(generatorUtilisation).toBeGreaterThanOrEqual(0)
    expect(generatorUtilisation).toBeLessThan(0.6)
    expect(bottleneck).not.toBe('generator')
  }
})
