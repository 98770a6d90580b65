import { randomBytes } from 'node:crypto'
import { brotliDecompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { BrotliQueue, acceptsBrotli } from '../../../src/response-cache/brotli.ts'
import type { RecordedResponse } from '../../../src/response-cache/recorder.ts'

const TEXT = 'Some text that repeats itself, and then some more of it. '.repeat(100)

const answer = (head: readonly string[], body: Buffer): RecordedResponse => ({ status: 200, head, body })
const compressible = ['Vary', 'rsc, Accept-Encoding', 'ETag', '"a"']

/** What becomes of answers that are added together. */
async function coded(answers: readonly RecordedResponse[]): Promise<(RecordedResponse | undefined)[]> {
  const queue = new BrotliQueue()
  const found: (RecordedResponse | undefined)[] = answers.map(() => undefined)
  for (const [index, one] of answers.entries()) queue.add(one, false, (other) => void (found[index] = other))
  const last = Promise.withResolvers<RecordedResponse>()
  queue.add(answer(compressible, Buffer.from(TEXT)), true, last.resolve)
  await last.promise
  return found
}

it.each([
  ['as it is', ['Content-Length', String(TEXT.length)], Buffer.from(TEXT)],
  ['by gzip', ['Content-Encoding', 'gzip'], gzipSync(TEXT)],
  ['by deflate', ['content-encoding', 'deflate'], deflateSync(TEXT)],
])('an answer that Next gave %s has another coding, and no other header or text', async (_, head, body) => {
  const [found] = await coded([answer([...head, ...compressible], body)])
  expect(found!.head).toEqual([...compressible, 'Content-Encoding', 'br'])
  expect(brotliDecompressSync(found!.body).toString()).toBe(TEXT)
  expect(found!.body.length).toBeLessThan(body.length)
})

it.each<[string, readonly string[], Buffer]>([
  ['that Next does not compress', ['ETag', '"a"'], Buffer.from(TEXT)],
  ['that is as small as those which Next does not compress', compressible, Buffer.from(TEXT.slice(0, 1000))],
  ['that is no smaller by it', compressible, randomBytes(2000)],
  ['that cannot be read back', [...compressible, 'Content-Encoding', 'gzip'], Buffer.from(TEXT)],
  ['of another coding', [...compressible, 'Content-Encoding', 'zstd'], Buffer.from(TEXT)],
])('an answer %s stays as it is', async (_, head, body) => {
  expect(await coded([answer(head, body)])).toEqual([undefined])
})

it('compresses a response once, also for many requests', async () => {
  const queue = new BrotliQueue()
  const one = answer(compressible, Buffer.from(TEXT))
  const done = vi.fn<(coded: RecordedResponse) => void>()
  for (let time = 0; time < 3; time++) queue.add(one, false, done)
  await expect.poll(() => done).toHaveBeenCalled()
  queue.add(one, false, done)
  await coded([])
  expect(done).toHaveBeenCalledTimes(1)
})

it('limits waiting responses, and accepts rejected ones later', async () => {
  const queue = new BrotliQueue()
  const answers = Array.from({ length: 150 }, () => answer(compressible, Buffer.from(TEXT)))
  let done = 0
  const addAll = (): void => {
    for (const one of answers) queue.add(one, false, () => void done++)
  }
  addAll()
  // One is being compressed, and a hundred wait.
  await vi.waitFor(() => expect(done).toBe(101), { timeout: 20_000 })
  addAll()
  await vi.waitFor(() => expect(done).toBe(150), { timeout: 20_000 })
})

it.each([
  ['br', true],
  ['gzip, deflate, br, zstd', true],
  ['gzip,br', true],
  ['gzip', false],
  ['brotli, x-br', false],
  ['br;q=0', false],
  ['', false],
  [undefined, false],
])('a client that says %j takes brotli: %s', (accepted, takes) => {
  expect(acceptsBrotli(accepted)).toBe(takes)
})
