import { expect, it } from 'vitest'
import { findCeiling } from '../../../src/load-test/find-ceiling.ts'

/** Steps of the search against a server with this throughput at a number of users. */
async function search(throughput: (users: number) => number, most = 1000) {
  const steps: number[] = []
  const ceiling = await findCeiling((users) => {
    steps.push(users)
    const failures = { errors: 0, timeouts: 0, unexpectedStatus: 0 }
    return Promise.resolve({ throughput: throughput(users), limitedBy: 'server', failures })
  }, most)
  return { steps, ceiling }
}

it('adds users until that brings no further throughput, and keeps the highest one', async () => {
  // Each user gets 20 responses per second from a server that waits 50 ms, up to 3000 in all.
  const { steps, ceiling } = await search((users) => Math.min(users * 20, 3000 - users))
  expect(steps).toEqual([16, 64, 256, 1000])
  expect(ceiling).toEqual({ rate: 2744, users: 256, limitedBy: 'server' })
})

it('keeps the step before if more users bring less', async () => {
  const { steps, ceiling } = await search((users) => 10_000 - users)
  expect(steps).toEqual([16, 64])
  expect(ceiling).toMatchObject({ rate: 9984, users: 16 })
})

it.each([
  [8, [8]],
  [100, [16, 64, 100]],
])('has at most as many users as connections are allowed: %d', async (most, expected) => {
  const { steps, ceiling } = await search((users) => users * 20, most)
  expect(steps).toEqual(expected)
  expect(ceiling.users).toBe(most)
})
