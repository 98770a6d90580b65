/** Next takes seconds until all its code is optimised. */
export const load = { leastWarmUp: 4000, warmUp: 7000, duration: 1200, cycles: 2, startTimeout: 60_000 } as const
