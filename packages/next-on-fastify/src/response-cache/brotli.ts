// Compresses cached responses by brotli, which Next does not do: once each, outside the thread of the event loop.

import { promisify } from 'node:util'
import zlib, { brotliCompress, brotliDecompress, constants, gunzip, inflate } from 'node:zlib'
import { outsideRequests } from '../async-context/outside-requests.ts'
import type { RecordedResponse } from './recorder.ts'
import { pairsOf, valueOf } from './response-headers.ts'
import type { ReadyResponse } from './ready-response.ts'

const compress = promisify(brotliCompress)

/** Decoders for content encodings of Next and of this package. Node before 22.15 has no zstd. */
const DECODERS: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
  gzip: promisify(gunzip),
  identity: async (body) => body,
  ...(zlib.zstdDecompress && { zstd: promisify(zlib.zstdDecompress) }),
}

/**
 * Quality 11 takes half a second for 300 kB, so it is for files that never change. See
 * docs/measurements.md#brotli-quality
 */
const QUALITY = { immutable: 11, other: 5 } as const

/** Minimum bytes of a body that Next compresses. */
const MIN_BYTES = 1024

/** Maximum responses that wait to be compressed. Others are added when they are requested again. */
const MAX_WAITING = 100

/** Whether a client accepts brotli. A weighted `br` counts as no. */
export function acceptsBrotli(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && /(?:^|,)\s*br\s*(?:,|$)/.test(acceptEncoding)
}

/** The head of a brotli response, or undefined if Next would not compress such a response. */
function brotliHead({ head, body }: ReadyResponse): readonly string[] | undefined {
  if (!/\baccept-encoding\b/i.test(valueOf(head, 'vary') ?? '')) return undefined
  if (body.length < MIN_BYTES && valueOf(head, 'content-encoding') === undefined) return undefined
  const others = pairsOf(head).filter(([name]) => !/^content-(?:encoding|length)$/i.test(name))
  return [...others, ['Content-Encoding', 'br'] as const].flat()
}

interface Task {
  readonly response: ReadyResponse
  readonly head: readonly string[]
  readonly quality: number
  readonly done: (compressed: RecordedResponse) => void
}

/** Compresses one response at a time: the threads that do it also read files. */
export class BrotliQueue {
  readonly #begun = new WeakSet<ReadyResponse>()
  readonly #waiting: Task[] = []
  #isWorking = false

  /** Calls back with the brotli response, once, if it is smaller. */
  add(response: ReadyResponse, isImmutable: boolean, done: Task['done']): void {
    const head = brotliHead(response)
    if (head === undefined || this.#begun.has(response) || this.#waiting.length === MAX_WAITING) return
    this.#begun.add(response)
    this.#waiting.push({ response, head, quality: isImmutable ? QUALITY.immutable : QUALITY.other, done })
    if (!this.#isWorking) void outsideRequests(() => this.#work())
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let task = this.#waiting.shift(); task !== undefined; task = this.#waiting.shift()) {
      const { response, head, quality, done } = task
      const body = await compressed(response, quality)
      if (body !== undefined && body.length < response.body.length) done({ status: response.status, head, body })
    }
    this.#isWorking = false
  }
}

async function compressed({ head, body }: ReadyResponse, quality: number): Promise<Buffer | undefined> {
  const decode = DECODERS[valueOf(head, 'content-encoding') ?? 'identity']
  try {
    const plain = await decode?.(typeof body === 'string' ? Buffer.from(body, 'latin1') : body)
    if (plain === undefined) return undefined
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
    return await compress(plain, {
      params: { [BROTLI_PARAM_QUALITY]: quality, [BROTLI_PARAM_SIZE_HINT]: plain.length },
    })
  } catch {
    // A body that cannot be decoded is served unchanged.
    return undefined
  }
}
