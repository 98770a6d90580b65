// Kept answers compressed by brotli, which Next does not do: once for each, off the thread that answers.

import { promisify } from 'node:util'
import { brotliCompress, constants, gunzip, inflate } from 'node:zlib'
import { outsideRequests } from '../outside-requests.ts'
import { pairsOf, type RecordedAnswer, valueOf } from './recorded-answer.ts'
import type { ReadyAnswer } from './written-answer.ts'

const compress = promisify(brotliCompress)

/** Ways back to what Next compressed. */
const DECODERS: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  deflate: promisify(inflate),
  gzip: promisify(gunzip),
  identity: async (body) => body,
}

/** As good as it gets takes half a second for 300 kB: for what never changes. Else as long as gzip takes, and smaller. */
const QUALITY = { unchanging: 11, other: 5 } as const

/** Bytes from which on Next compresses. */
const SMALLEST = 1024

/** What waits to be compressed at the most: what is asked for again after that comes next. */
const MOST_WAITING = 100

/** Whether a client takes brotli, where no weights make that hard to tell. */
export function takesBrotli(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && /(?:^|,)\s*br\s*(?:,|$)/.test(acceptEncoding)
}

/** The head of an answer in another coding, if Next compresses such an answer at all. */
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

/** Compresses one answer after the other: the threads that do it read files too. */
export class BrotliQueue {
  readonly #begun = new WeakSet<ReadyAnswer>()
  readonly #waiting: Task[] = []
  #isWorking = false

  /** Calls back with the answer by brotli, once, if it is smaller by that. */
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
    // What cannot be read back is given as it is.
    return undefined
  }
}
