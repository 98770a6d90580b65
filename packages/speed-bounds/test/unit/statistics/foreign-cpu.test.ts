import { expect, it } from 'vitest'
import { exceedsForeignCpu } from '../../../src/statistics/foreign-cpu.ts'

it.each([
  [0, 0, 1, false],
  [1, 0.3, 1, false],
  [1.01, 0, 1, true],
  // A hypervisor stops a server in the middle of its work.
  [0.31, 0.31, 1, true],
  [0.5, 0.4, 2, false],
  [0.7, 0.7, 2, true],
  [0.01, 0, 0, true],
])('%s foreign cores, of which %s were stolen, exceed a limit of %s: %s', (foreignCpu, stolenCpu, limit, exceeds) => {
  expect(exceedsForeignCpu({ foreignCpu, stolenCpu }, limit)).toBe(exceeds)
})
