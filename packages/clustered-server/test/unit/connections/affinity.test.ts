import { expect, it } from 'vitest'
import { Affinity, highestWeight } from '../../../src/connections/affinity.ts'

const addresses = Array.from({ length: 4000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`)

it('spreads addresses evenly over workers', () => {
  const workers = [3, 4, 5, 6]
  const counts = workers.map((id) => addresses.filter((address) => highestWeight(address, workers) === id).length)
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(120)
})

it('changes only the addresses of a worker that leaves', () => {
  const before = addresses.map((address) => highestWeight(address, [1, 2, 3, 4]))
  const after = addresses.map((address) => highestWeight(address, [1, 2, 4]))
  expect(after.filter((worker, index) => before[index] !== 3 && worker !== before[index])).toEqual([])
  expect(new Set(after)).toEqual(new Set([1, 2, 4]))
})

it('chooses the same worker whatever the order of workers', () => {
  for (const address of addresses.slice(0, 100))
    expect(highestWeight(address, [9, 7, 8])).toBe(highestWeight(address, [7, 8, 9]))
})

it('returns no other worker for its own addresses, without an address and without workers', () => {
  const affinity = new Affinity(7)
  expect(affinity.otherWorkerOf('127.0.0.1')).toBeUndefined()
  affinity.workers = [7]
  expect(affinity.otherWorkerOf('127.0.0.1')).toBeUndefined()
  affinity.workers = [8]
  expect(affinity.otherWorkerOf('127.0.0.1')).toBe(8)
  expect(affinity.otherWorkerOf(undefined)).toBeUndefined()
})
