import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** Puts a list in random order. The same seed gives the same orders. */
export type Shuffle = <T>(items: readonly T[]) => T[]

export function shuffler(seed: number): Shuffle {
  const generator = xoroshiro128plus(seed)
  // Fisher-Yates, from the end.
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
 * The heats of one cycle, each with one random process of every subject in random order. So subjects stay close together
 * in time, and none is always first or always after the same other one.
 */
export function heatsOf<T>(processesBySubject: readonly (readonly T[])[], shuffle: Shuffle): T[][] {
  const dealt = processesBySubject.map((processes) => shuffle(processes))
  return Array.from({ length: Math.max(...dealt.map(({ length }) => length)) }, (_, heat) =>
    shuffle(dealt.flatMap((processes) => processes.slice(heat, heat + 1))),
  )
}
