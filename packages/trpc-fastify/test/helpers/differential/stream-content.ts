// What the lines of a streamed batch say, by tRPC's own reader and put together as its client does.

import { setImmediate as turn } from 'node:timers/promises'
import { jsonlStreamConsumer } from '@trpc/server/unstable-core-do-not-import'
import { describeValue } from './describe-value.ts'

/** Makes of a line what it was before the transformer of the server had it. */
export type Deserialize = (line: unknown) => unknown

/** An error that came in a line of its own. */
class LineError extends Error {
  readonly shape: unknown

  constructor(shape: unknown) {
    super('Error in a line')
    this.shape = shape
  }
}

/** What came of each call, and the calls in the order in which they came. Rejects where tRPC cannot read the lines. */
export async function readStream(
  bytes: Buffer,
  deserialize: Deserialize = (line) => line,
): Promise<{ calls: unknown; arrivals: readonly string[] }> {
  const unreadable = Promise.withResolvers<never>()
  const [head] = await jsonlStreamConsumer<Record<string, unknown>>({
    from: lineByLine(bytes),
    deserialize,
    abortController: new AbortController(),
    formatError: ({ error }) => new LineError(error),
    onError: ({ error }) => unreadable.reject(error),
  })
  const arrivals: string[] = []
  const calls = eachOf(head, async (call, index) => {
    const answer = await answerOf(call)
    arrivals.push(index)
    return 'data' in answer ? { data: await contentOf(answer.data) } : answer
  })
  return { calls: await Promise.race([calls, unreadable.promise]), arrivals }
}

/** What came of each call, as a text that can be compared. */
export async function streamContent(text: string, deserialize?: Deserialize): Promise<string> {
  const { calls } = await readStream(Buffer.from(text, 'latin1'), deserialize)
  return JSON.stringify(describeValue(calls), null, 1)
}

/** Gives one line at a time, as a server does that has to wait for what they tell. */
function lineByLine(bytes: Buffer): ReadableStream<Uint8Array> {
  let from = 0
  return new ReadableStream({
    async pull(controller) {
      await turn()
      if (from === bytes.length) return controller.close()
      const end = bytes.indexOf('\n', from) + 1 || bytes.length
      controller.enqueue(bytes.subarray(from, end))
      from = end
    },
  })
}

/** The client waits for the call, for its result and for the data: what is in there is for its user to await. */
async function answerOf(call: unknown): Promise<{ data: unknown } | { error: unknown }> {
  try {
    const answer = (await call) as { result: unknown } | { error: unknown }
    if (!('result' in answer)) return answer
    const { data } = (await answer.result) as { data?: unknown }
    return { data: await data }
  } catch (error) {
    return { error: shapeOf(error) }
  }
}

/** Only data itself, and what stands directly in an object, can come later. */
async function contentOf(data: unknown): Promise<unknown> {
  const isPlain = typeof data === 'object' && data !== null && Object.getPrototypeOf(data) === Object.prototype
  return isPlain ? eachOf(data, laterOf) : laterOf(data)
}

async function laterOf(value: unknown): Promise<unknown> {
  if (value instanceof Promise) {
    return value.then(
      async (found: unknown) => ({ fulfilled: await contentOf(found) }),
      (error: unknown) => ({ rejected: shapeOf(error) }),
    )
  }
  const isIterable = typeof value === 'object' && value !== null && Symbol.asyncIterator in value
  return isIterable ? iteration(value as AsyncIterable<unknown>) : value
}

async function iteration(iterable: AsyncIterable<unknown>): Promise<unknown> {
  const iterator = iterable[Symbol.asyncIterator]()
  const yielded: unknown[] = []
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- they come one after the other
      const { done, value } = await iterator.next()
      // oxlint-disable-next-line no-await-in-loop -- as above
      const content = await contentOf(value)
      if (done) return { yielded, returned: content }
      yielded.push(content)
    }
  } catch (error) {
    return { yielded, thrown: shapeOf(error) }
  }
}

async function eachOf(values: object, content: (value: unknown, key: string) => Promise<unknown>): Promise<object> {
  const entries = Object.entries(values).map(async ([key, value]) => [key, await content(value, key)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

function shapeOf(error: unknown): unknown {
  return error instanceof LineError ? error.shape : String(error)
}
