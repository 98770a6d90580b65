import { describeValue } from './describe-value.ts'

/** Something that the code of a user saw. */
export interface Sighting {
  readonly what: string
  /** Index of the call in its batch, where it is known. */
  readonly call?: number
  readonly value: unknown
}

/** Notes what the code of a user sees of one request. */
export class Recorder {
  #sightings: Sighting[] = []

  see(what: string, value: unknown, call?: number): void {
    this.#sightings.push({ what, value: describeValue(value), ...(call === undefined ? {} : { call }) })
  }

  /** What a middleware or a resolver got. */
  seeCall(what: string, options: object): void {
    const { path, type, input, ctx, batchIndex, signal, meta } = options as Record<string, unknown>
    const isSignal = signal instanceof AbortSignal
    const keys = Object.keys(options).toSorted()
    this.see(what, { path, type, input, ctx, batchIndex, meta, isSignal, keys }, batchIndex as number)
  }

  take(): Sighting[] {
    return this.#sightings.splice(0)
  }
}
