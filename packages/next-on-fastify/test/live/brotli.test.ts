import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { twoServers, type Answer, type TwoServers } from '../helpers/two-servers.ts'

const BROWSER = { 'accept-encoding': 'gzip, deflate, br, zstd' }
const GZIP = { 'accept-encoding': 'gzip, deflate' }

let servers: TwoServers
beforeAll(async () => {
  servers = await twoServers('newest', { proxied: 'unmatched', brotli: true })
}, BUILD_TIMEOUT)
afterAll(() => servers.close())

const codingOf = ({ head }: Answer): string | undefined =>
  head.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1]
const textOf = (answer: Answer): string => {
  const body = Buffer.from(answer.body, 'latin1')
  return (codingOf(answer) === 'br' ? brotliDecompressSync(body) : gunzipSync(body)).toString()
}
const without = ({ head }: Answer): unknown => head.filter(([name]) => name.toLowerCase() !== 'content-encoding')

/** The answer by brotli, which is there soon after the first that is kept. */
async function byBrotli(path: string): Promise<Answer> {
  let answer: Answer | undefined
  await expect
    .poll(
      async () => {
        answer = await servers.kept({ path, headers: BROWSER })
        return codingOf(answer)
      },
      { timeout: 30_000 },
    )
    .toBe('br')
  return answer!
}

it.each([
  ['a page of the App Router', '/'],
  ['a file of public', '/big.txt'],
])('%s says the same by brotli as by gzip, in fewer bytes', async (_, path) => {
  const next = await servers.next({ path, headers: BROWSER })
  expect(codingOf(next)).toBe('gzip')
  const kept = await byBrotli(path)
  expect(textOf(kept)).toBe(textOf(next))
  expect(without(kept)).toEqual(without(next))
  expect(kept.body.length).toBeLessThan(next.body.length)
})

it('leaves other clients unchanged, and sends HEAD the head of GET', async () => {
  await byBrotli('/')
  for (const headers of [GZIP, {}, { 'accept-encoding': 'gzip, br;q=0' }]) {
    expect(await servers.kept({ path: '/', headers })).toEqual(await servers.next({ path: '/', headers }))
  }
  await servers.kept({ path: '/', method: 'HEAD', headers: BROWSER })
  const { status, head, body } = await servers.kept({ path: '/', method: 'HEAD', headers: BROWSER })
  const got = await servers.kept({ path: '/', headers: BROWSER })
  // How a body is sent is said where there is one.
  expect([status, head, body]).toEqual([200, got.head.filter(([name]) => name !== 'Transfer-Encoding'), ''])
  // Whoever has the page is told so as ever.
  const etag = head.find(([name]) => name === 'ETag')![1]
  for (const method of ['GET', 'HEAD']) {
    const asked = { path: '/', method, headers: { ...BROWSER, 'if-none-match': etag } }
    for (let turn = 0; turn < 3; turn++) expect(await servers.kept(asked)).toEqual(await servers.next(asked))
  }
})

it('a page that was revalidated is not given by brotli as it was', async () => {
  for (let to = 1; to < 4; to++) {
    await servers.kept({ path: `/versioned/change?to=${to}` })
    expect(textOf(await byBrotli('/versioned'))).toContain(`Line 1, version ${to}.`)
  }
})
