// Compresses cached responses by brotli, which Next does not do: once each, outside the thread of the event loop.

import { promisify } from 'node:util'
import { brotliCompress, constants, gunzip, inflate } from 'node:zlib'
import { outsideRequests } from '../async-context/outside-requests.ts'
import { pairsOf, type RecordedAnswer, valueOf } from './recorder.ts'
import type { ReadyAnswer } from './writer.ts'

const compress = promisify(brotliCompress)

/** Decoders for the content encodings of Next. */
const DECODERS: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  deflate: promisify(inflate),
  gzip: promisify(gunzip),
  identity: async (body) => body,
}

/**
 * Quality 11 takes half a second for 300 kB, so it is for files that never change. See
 * docs/measurements.md#brotli-quality
 */
const QUALITY = { unchanging: 11, other: 5 } as const

/** Minimum bytes of a body that Next compresses. */
const SMALLEST = 1024

/** Maximum responses that wait to be compressed. Others are added when they are requested again. */
const MOST_WAITING = 100

/** Whether a client accepts brotli. A weighted `br` counts as no. */
export function takesBrotli(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && /(?:^|,)\s*br\s*(?:,|$)/.test(acceptEncoding)
}

/** The head of a brotli response, or undefined if Next would not compress such a response. */
function brotliHead({ head, body }: ReadyAnswer): readonly string[] | undefined {
  if (!/\baccept-encoding\b/i.test(valueOf(head, 'vary') ?? '')) return undefined
  if (body.length < SMALLEST && valueOf(head, 'content-encoding') === undefined) return undefined
  const others = pairsOf(head).filter(([name]) => !/^content-(?:encoding|length)$/i.test(name))
  return [...others, ['Content-Encoding', 'br'] as const].flat()
}

interface Task {
  readonly answer: ReadyAnswer
  readonly head: readonly string[]
  readonly quality: number
  readonly done: (coded: RecordedAnswer) => void
}

/** Compresses one response at a time: the threads that do it also read files. */
export class BrotliQueue {
  readonly #begun = new WeakSet<ReadyAnswer>()
  readonly #waiting: Task[] = []
  #isWorking = false

  /** Calls back with the brotli response, once, if it is smaller. */
  add(answer: ReadyAnswer, unchanging: boolean, done: Task['done']): void {
    const head = brotliHead(answer)
    if (head === undefined || this.#begun.has(answer) || this.#waiting.length === MOST_WAITING) return
    this.#begun.add(answer)
    this.#waiting.push({ answer, head, quality: unchanging ? QUALITY.unchanging : QUALITY.other, done })
    if (!this.#isWorking) void outsideRequests(() => this.#work())
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let task = this.#waiting.shift(); task !== undefined; task = this.#waiting.shift()) {
      const { answer, head, quality, done } = task
      const body = await compressed(answer, quality)
      if (body !== undefined && body.length < answer.body.length) done({ status: answer.status, head, body })
    }
    this.#isWorking = false
  }
}

async function compressed({ head, body }: ReadyAnswer, quality: number): Promise<Buffer | undefined> {
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
