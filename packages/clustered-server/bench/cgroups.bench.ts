import { availableParallelism } from 'node:os'
import { availableCores } from '../src/platform/available-cores.ts'
import { memoryLimit } from '../src/platform/memory-limit.ts'

// Decides whether limits of the container may be read for each worker that starts, or must be cached.

export default {
  'cores by control groups': () => availableCores(),
  'memory by control groups': () => memoryLimit(),
  'cores as Node counts them': () => availableParallelism(),
}
