// What several ask for at the same time is asked of Next by the first of them. The others wait until that has been answered,
// and then find what was kept of it.

import { outsideRequests } from '../async-context/outside-requests.ts'

/** Milliseconds that others wait for an answer at the most: Next has others wait for a page that is being made, too. */
const LONGEST = 10_000

/** Milliseconds that they wait for the rest of an answer whose head is there: its client may be slow to read. */
const SLOWEST = 250

/** An answer that is being made. */
interface Pending {
  /** Changes of Next's cache when it was asked for: after the next one it may not be kept. */
  readonly changes: number
  readonly answered: Promise<void>
}

/** What others wait for. */
export interface Awaited {
  /** The head of the answer is there. */
  headed(): void
  /** All of it is, or it is not to be waited for any more. */
  ended(): void
}

/** Answers that are being made, by what was asked. */
export class AskedAtOnce {
  readonly #pending = new Map<string, Pending>()

  /** Resolves when another one has its answer to the same; nothing where no other one has asked since the last change. */
  answered(asked: string, changes: number): Promise<void> | undefined {
    const found = this.#pending.get(asked)
    return found?.changes === changes ? found.answered : undefined
  }

  /** Has others wait from now on. */
  begin(asked: string, changes: number): Awaited {
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    const pending = { changes, answered }
    const ended = (): void => {
      clearTimeout(timer)
      if (this.#pending.get(asked) === pending) this.#pending.delete(asked)
      resolve()
    }
    let timer = outsideRequests(() => setTimeout(ended, LONGEST).unref())
    this.#pending.set(asked, pending)
    const headed = (): void => {
      clearTimeout(timer)
      timer = outsideRequests(() => setTimeout(ended, SLOWEST).unref())
    }
    return { headed, ended }
  }
}
