import { availableParallelism } from 'node:os'
import { test } from 'vitest'
import { availableCores } from '../src/platform/available-cores.ts'
import { memoryLimit } from '../src/platform/memory-limit.ts'

// Decides whether limits of the container may be read for each worker that starts, or must be cached.

test('the limits of this container', async ({ bench }) => {
  await bench.compare(
    bench('cores by control groups', () => {
      availableCores()
    }),
    bench('memory by control groups', () => {
      memoryLimit()
    }),
    bench('cores as Node counts them', () => {
      availableParallelism()
    }),
  )
})
