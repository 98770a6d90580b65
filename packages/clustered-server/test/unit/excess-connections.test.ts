import { describe, expect, it } from 'vitest'
import { excessConnections } from '../../src/primary/excess-connections.ts'

const withConnections = (...counts: number[]): number[] =>
  excessConnections(counts.map((connections) => ({ connections, utilization: 0.5 })))

describe('one worker that has', () => {
  it.each([
    ['as many connections as the others', [16, 16], [0, 0]],
    ['eight more than another', [12, 4], [0, 0]],
    ['nine more than another', [12, 3], [4, 0]],
    ['all', [16, 0], [8, 0]],
    ['all, of eight', [64, 0, 0, 0, 0, 0, 0, 0], [56, 0, 0, 0, 0, 0, 0, 0]],
    ['many more, but less than a quarter', [400, 301], [0, 0]],
    ['a quarter more', [400, 299], [50, 0]],
    ['none, where the others have few', [10, 10, 10, 10, 0], [5, 2, 2, 2, 0]],
  ])('%s', (_, counts, expected) => {
    expect(withConnections(...counts)).toEqual(expected)
  })
})

it('each overloaded worker hands over its connections above the mean', () => {
  expect(withConnections(50, 50, 0, 0)).toEqual([25, 25, 0, 0])
})

it('no worker is overloaded after a round', () => {
  for (const counts of [[100, 3, 7], [33, 31, 0, 0, 0], Array.from({ length: 64 }, (_, index) => index)]) {
    const even = withEachGiven(counts, withConnections(...counts))
    expect(Math.max(...even) - Math.min(...even)).toBeLessThanOrEqual(8)
  }
})

it('one worker alone hands over nothing', () => {
  expect(withConnections(100)).toEqual([0])
  expect(withConnections()).toEqual([])
})

describe('few connections', () => {
  const busy = 0.95
  const free = 0.5
  it.each([
    ['go to a core that is free', [6, busy], [0, free], [3, 0]],
    ['go to a core that is free, already of two more', [4, busy], [2, free], [1, 0]],
    ['stay where there is one more', [3, busy], [2, free], [0, 0]],
    ['stay where no core is free', [6, busy], [0, 0.8], [0, 0]],
    ['stay where no core has too much to do', [6, 0.85], [0, free], [0, 0]],
  ] as const)('%s', (_, [most, mostUsed], [fewest, fewestUsed], expected) => {
    const loads = [
      { connections: most, utilization: mostUsed },
      { connections: fewest, utilization: fewestUsed },
    ]
    expect(excessConnections(loads)).toEqual(expected)
  })
})

/** Who has how many when each connection that was given away has gone to the one with the fewest. */
function withEachGiven(counts: readonly number[], given: readonly number[]): number[] {
  const left = counts.map((count, index) => count - given[index]!)
  for (let moved = given.reduce((sum, one) => sum + one, 0); moved > 0; moved--)
    left[left.indexOf(Math.min(...left))]!++
  return left
}
