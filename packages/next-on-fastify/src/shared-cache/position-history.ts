/** Number of recent changes whose times are known. */
const MAX_CHANGES = 1000

/**
 * Which position of the log of changes this process had read at a time of its own clock. Next tells when the generation of an
 * entry began only by that clock.
 */
export class PositionHistory {
  /** In order of both. */
  #known: { readonly at: number; readonly position: number }[]

  constructor(position: number) {
    this.#known = [{ at: -Infinity, position }]
  }

  /** Records that this position was read now. */
  add(position: number): void {
    this.#known.push({ at: now(), position })
    if (this.#known.length > MAX_CHANGES) this.#known.shift()
  }

  /** The position at that time, in milliseconds since 1970. For a time that is too long ago, 0: before all changes. */
  at(time: number): number {
    return this.#known.findLast(({ at }) => at < time)?.position ?? 0
  }
}

/** The clock of Next for entries. */
export function now(): number {
  return performance.timeOrigin + performance.now()
}
