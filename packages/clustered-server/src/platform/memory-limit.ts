import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { readCgroups } from './cgroups.ts'

const MEBIBYTE = 2 ** 20
/** What the primary takes: Node itself, and little beside. */
const PRIMARY = 64 * MEBIBYTE
/** What of its memory a worker has for the old generation of V8: the rest is for the young one, code, stacks, buffers. */
const HEAP_SHARE = 0.75
/** With less an app does not start; a worker that starts and lives a while is better than none. */
const LEAST_HEAP = 64 * MEBIBYTE
/** What sets the size of the heap, in either spelling: who has said it knows why. */
const SETS_HEAP = /--max[-_](?:old[-_]space|heap)[-_]size/

/**
 * The memory in bytes that this process and those of its container may use: the tightest limit of its control group
 * and of all around it; none when there is none, or when the machine has less.
 *
 * @param root where `/proc` and `/sys` are
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
 * Arguments of Node by which so many workers, and the one more that is there as a spare or while one is replaced, share
 * the memory of the container without taking more than there is. None when nothing is limited, when who starts them
 * has set a size, or when what V8 takes by itself is less.
 */
export function heapArguments(
  workers: number,
  execArgv: readonly string[],
  nodeOptions: string | undefined,
  root: string = '/',
): string[] {
  const limit = memoryLimit(root)
  if (limit === undefined || [...execArgv, nodeOptions ?? ''].some((text) => SETS_HEAP.test(text))) return []
  const heap = Math.max(LEAST_HEAP, ((limit - PRIMARY) / (workers + 1)) * HEAP_SHARE)
  return heap < getHeapStatistics().heap_size_limit ? [`--max-old-space-size=${Math.floor(heap / MEBIBYTE)}`] : []
}
