// What clients send takes time that grows with its length, and not with the square of that.

import { createRequire } from 'node:module'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { afterOlderPages } from '../../src/shared-cache/older-renderings.ts'
import { isPlainPath, queryOf } from '../../src/next/plain-url.ts'
import { ineligible } from '../../src/router-bypass/eligibility.ts'
import { botsOf } from '../../src/next/build/bots.ts'
import { acceptsBrotli } from '../../src/response-cache/brotli.ts'
import { negotiation } from '../../src/compression/negotiation.ts'
import { NEXT_ENCODINGS } from '../../src/response-cache/content-encodings.ts'
import { requestKey } from '../../src/response-cache/key.ts'
import { routableUrl } from '../../src/fastify/routable-url.ts'

type Headers = Readonly<Record<string, string>>

const asked = (headers: Headers, url = '/'): IncomingMessage =>
  ({ method: 'GET', url, headers, httpVersion: '1.1', httpVersionMajor: 1 }) as unknown as IncomingMessage

const NEXT = 'next/dist/shared/lib/router/utils/is-bot'
const { HTML_LIMITED_BOT_UA_RE_STRING } = createRequire(import.meta.url)(NEXT) as {
  HTML_LIMITED_BOT_UA_RE_STRING: string
}
const isBot = botsOf(createRequire(import.meta.url), {
  cacheComponents: true,
  htmlLimitedBots: HTML_LIMITED_BOT_UA_RE_STRING,
})

const pendingPages = afterOlderPages(
  async () => undefined,
  () => 0,
)
const response = { getHeader: () => undefined } as unknown as ServerResponse

/** What repeats, with a beginning and an end that no pattern matches. */
const PATTERNS: readonly ((length: number) => string)[] = [
  (length) => `a${' '.repeat(length)}b`,
  (length) => `a${' ,'.repeat(length / 2)}b`,
  (length) => ','.repeat(length),
  (length) => `a${'\t'.repeat(length)},b`,
  (length) => 'a'.repeat(length),
  (length) => `${'a-'.repeat(length / 2)}!`,
  (length) => '/a'.repeat(length / 2),
  (length) => '/_next/data/'.repeat(length / 12),
  (length) => `/_next/data/a${'/_next/data/a/'.repeat(length / 14)}.jso`,
  (length) => '%'.repeat(length),
  (length) => '%41'.repeat(length / 3),
  (length) => '"'.repeat(length),
  (length) => `W/"${'a'.repeat(length)}`,
  (length) => 'no-cach,'.repeat(length / 8),
  (length) => 'a=b&'.repeat(length / 4),
  (length) => '?#'.repeat(length / 2),
]

const HEADERS = [
  'accept-encoding',
  'cache-control',
  'cookie',
  'host',
  'if-none-match',
  'next-url',
  'rsc',
  'user-agent',
  'vary',
  'x-forwarded-host',
]

const READERS: Readonly<Record<string, (hostile: string) => unknown>> = {
  ...Object.fromEntries(
    HEADERS.map((name) => [
      `the header ${name}`,
      (hostile: string) => requestKey(asked({ 'if-none-match': '"a"', [name]: hostile }), NEXT_ENCODINGS),
    ]),
  ),
  'a header of the direct path': (hostile) => ineligible(asked({ cookie: hostile, [hostile]: hostile })),
  'the codings that a client takes': acceptsBrotli,
  'the name of a client': (hostile) => isBot(hostile),
  'the encodings of a compressed response': negotiation(['zstd', 'br', 'gzip']),
  'the URL of a cached page': (hostile) => requestKey(asked({}, `/${hostile}`), NEXT_ENCODINGS),
  'the query of a cached page': (hostile) => requestKey(asked({}, `/?${hostile}`), NEXT_ENCODINGS),
  'the URL of a direct page': (hostile) => isPlainPath(`/${hostile}`),
  'the query of a direct page': (hostile) => queryOf(`/?${hostile}`),
  'a URL for the router of Fastify': (hostile) => routableUrl(asked({}, hostile)),
  'the URL of a page of a shared cache': (hostile) => pendingPages(asked({}, hostile), response),
}

/** Microseconds of this thread, of the quickest of some runs. */
function cost(read: (hostile: string) => unknown, hostile: string): number {
  const runs = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage()
    read(hostile)
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  })
  return Math.min(...runs)
}

/** By the square, the longer of them takes 64 times as much as the shorter one, and a second or so. */
const [SHORT, LONG] = [5000, 40_000]
const [TOO_STEEP, TOO_MUCH] = [24, 20_000]

describe('takes no time that grows with the square of', () => {
  it.each(Object.entries(READERS))('%s', (_name, read) => {
    const steep = PATTERNS.flatMap((pattern) => {
      const [short, long] = [cost(read, pattern(SHORT)), cost(read, pattern(LONG))]
      return long > TOO_MUCH && long > short * TOO_STEEP ? [pattern(20)] : []
    })
    expect(steep).toEqual([])
  })
})
