import type { RaceOptions } from 'speed-bounds'
import { inject } from 'vitest'

/** Next takes seconds until all its code is optimised. Where there is time for it, more of a visit counts. */
export const load: RaceOptions = {
  leastWarmUp: 4000,
  warmUp: 7000,
  duration: inject('races') === 'all' ? 1200 : 800,
  cycles: 2,
  startTimeout: 60_000,
}
