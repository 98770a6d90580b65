import { expect, it } from 'vitest'
import { race } from '../../src/index.ts'
import { MEASUREMENT, server, SMALL, spin } from '../helpers/servers.ts'

const busy = server(`${spin(2000)} response.end('ok')`)

it.each([
  ['in turns', MEASUREMENT.turn, undefined],
  ['in whole rounds', SMALL.duration, undefined],
  ['with a fixed amount', MEASUREMENT.turn, 100],
])('busy polling does not count as work of the generator: %s', async (_, turn, amount) => {
  const { rounds, load } = await race(
    { one: busy, other: busy },
    { ...SMALL, ...(amount === undefined ? {} : { amount }), measurement: { ...MEASUREMENT, busyPoll: 50, turn } },
  ).measure()
  expect(load.busyPoll).toBe(50)
  expect(rounds.map(({ failures }) => failures)).toEqual([0, 0, 0, 0])
  for (const { generatorUtilization, bottleneck } of rounds) {
    expect(generatorUtilization).toBeGreaterThanOrEqual(0)
    expect(generatorUtilization).toBeLessThan(0.6)
    expect(bottleneck).not.toBe('generator')
  }
})
