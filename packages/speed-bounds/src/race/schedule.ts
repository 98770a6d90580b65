import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/**
 * The data is looked at at the end of each stage, and once more after the first cycle of the first:
 * a claim with room to spare is decided there. Where heats come one after the other, a cycle is over when the stage is.
 */
export function isLook(stage: number, cycle: number, cycles: number): boolean {
  return cycle === cycles || (stage === 1 && cycle === 1)
}

/** How many looks a claim can be given at the most. */
export function mostLooks(stages: number): number {
  return stages + 1
}

/** Puts a list in random order. The same seed gives the same orders. */
export type Shuffle = <T>(items: readonly T[]) => T[]

export function shuffler(seed: number): Shuffle {
  const generator = xoroshiro128plus(seed)
  // Fisher and Yates, from the end.
  return (items) => {
    const shuffled = [...items]
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = uniformInt(generator, 0, last)
      ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
    }
    return shuffled
  }
}

/**
 * The heats of one cycle, each with one process of every subject, at random within the heat and with the
 * processes dealt at random to the heats. So subjects stay close together in time, and none is always first
 * or always after the same other.
 */
export function heatsOf<T>(processesBySubject: readonly (readonly T[])[], shuffle: Shuffle): T[][] {
  const dealt = processesBySubject.map((processes) => shuffle(processes))
  return Array.from({ length: Math.max(...dealt.map(({ length }) => length)) }, (_, heat) =>
    shuffle(dealt.flatMap((processes) => processes.slice(heat, heat + 1))),
  )
}
