import { existsSync } from 'node:fs'
import type { Logger } from '../options/types.ts'
import { type Release, type ReleasePlace, resolveRelease } from './release.ts'

/** The release that each generation of workers runs. */
export class Releases {
  readonly #place: ReleasePlace
  readonly #logger: Logger | undefined
  readonly #byGeneration = new Map<number, Release>()

  constructor(place: ReleasePlace, logger: Logger | undefined) {
    this.#place = place
    this.#logger = logger
  }

  /**
   * The release of a generation. Links are resolved once for all its workers, and again only if that release was deleted:
   * then a worker of another release is better than none.
   */
  of(generation: number): Release {
    const known = this.#byGeneration.get(generation)
    if (known && existsSync(known.path)) return known
    const release = resolveRelease(this.#place)
    this.#byGeneration.set(generation, release)
    if (known && known.path !== release.path) {
      const text = `${known.path} was deleted: workers start from ${release.path}`
      this.#logger?.warn({ generation, path: release.path }, text)
    }
    return release
  }

  /** Forgets the generations before one. */
  forgetBefore(generation: number): void {
    for (const one of this.#byGeneration.keys()) if (one < generation) this.#byGeneration.delete(one)
  }
}
