import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { readCgroups } from './cgroups.ts'

const MEBIBYTE = 2 ** 20
/** Memory of the primary, which is mostly Node itself. */
const PRIMARY_MEMORY = 64 * MEBIBYTE
/** Share of a worker's memory for V8's old generation. The rest is for the young generation, code, stacks and buffers. */
const HEAP_SHARE = 0.75
/** Minimum heap: an app does not start with less. */
const MIN_HEAP = 64 * MEBIBYTE
/** Arguments that set the heap size, in either spelling. */
const HEAP_SIZE = /--max[-_](?:old[-_]space|heap)[-_]size/

/**
 * Returns the memory in bytes that all processes of the container may use: the tightest limit of its control group and
 * the parent groups. `undefined` if there is none, or if the machine has less memory.
 *
 * @param root directory of `/proc` and `/sys`
 */
export function memoryLimit(root: string = '/'): number | undefined {
  const limits = [
    ...readCgroups(root, 'memory', 2, 'memory.max'),
    ...readCgroups(root, 'memory', 1, 'memory.limit_in_bytes'),
  ].flatMap((text) => (/^\d+$/.test(text) && Number(text) > 0 ? Number(text) : []))
  const tightest = Math.min(...limits)
  return tightest < totalmem() ? tightest : undefined
}

/**
 * Returns Node arguments that divide the memory of the container among the workers and one more, which is the standby
 * worker or replaces another. Empty without a limit, if a heap size is set, or if V8's default is lower.
 */
export function heapArguments(
  workers: number,
  execArgv: readonly string[],
  nodeOptions: string | undefined,
  root: string = '/',
): string[] {
  const limit = memoryLimit(root)
  if (limit === undefined || [...execArgv, nodeOptions ?? ''].some((text) => HEAP_SIZE.test(text))) return []
  const heap = Math.max(MIN_HEAP, ((limit - PRIMARY_MEMORY) / (workers + 1)) * HEAP_SHARE)
  return heap < getHeapStatistics().heap_size_limit ? [`--max-old-space-size=${Math.floor(heap / MEBIBYTE)}`] : []
}
