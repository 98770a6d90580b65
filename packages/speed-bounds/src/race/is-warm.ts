import { median } from '../statistics/samples.ts'

/**
 * The last `WINDOW` ms are compared with those before them. They cost no less than `GAIN` of them once a process is warm, and
 * its last round no more than `NEAR` of their median. Medians, because single rounds of 0.1 s differ by a tenth. See
 * docs/measurements.md#warm-up
 */
const WARM = { WINDOW: 500, GAIN: 0.97, NEAR: 1.3 }

/** Milliseconds after which a process can be warm at the earliest. */
export const SHORTEST_WARM_UP: number = 2 * WARM.WINDOW

/** Whether rounds of this many milliseconds have stopped getting cheaper. */
export function isWarm(costs: readonly number[], length: number): boolean {
  const size = Math.ceil(WARM.WINDOW / length)
  if (costs.length < 2 * size) return false
  const level = median(costs.slice(-size))
  return level >= WARM.GAIN * median(costs.slice(-2 * size, -size)) && costs.at(-1)! <= WARM.NEAR * level
}
