// Which worker serves a client address. All workers know the same workers, and choose the same one.

/** Chooses the worker of a client address, and changes it for as few addresses as possible when workers come and go. */
export class Affinity {
  readonly #self: number
  #workers: readonly number[] = []

  /** @param self id of this worker */
  constructor(self: number) {
    this.#self = self
  }

  /** Ids of the workers that accept connections. */
  set workers(ids: readonly number[]) {
    this.#workers = ids
  }

  /** The other worker that serves an address; `undefined` if this one does, or no worker is known. */
  otherWorkerOf(address: string | undefined): number | undefined {
    if (address === undefined) return undefined
    const worker = highestWeight(address, this.#workers)
    return worker === this.#self ? undefined : worker
  }
}

/** Rendezvous hashing: each worker has a weight for each address, and the highest one wins. */
export function highestWeight(address: string, workers: readonly number[]): number | undefined {
  let best: number | undefined
  let highest = -1
  for (const worker of workers) {
    const weight = weightOf(`${address} ${worker}`)
    if (weight <= highest) continue
    highest = weight
    best = worker
  }
  return best
}

/** FNV-1a with 32 bits, and the finalizer of MurmurHash3, as the last characters differ least. */
function weightOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
