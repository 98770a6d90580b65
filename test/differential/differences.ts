import { isDeepStrictEqual } from 'node:util'
import { ask, type RawAnswer, type RawRequest } from './raw-request.ts'

/** Two servers that must not be told apart by their answers. */
export interface Pair {
  /** What is right. */
  readonly reference: string
  readonly candidate: string
}

/** What of an answer may differ between two servers that run the same app. */
const EXCEPTIONS: readonly { header: string; reason: string; mask: (value: string) => string }[] = [
  { header: 'date', reason: 'the two answer at different times', mask: () => '(a date)' },
  {
    header: 'keep-alive',
    reason: 'how long a connection may rest is a setting of the server: 72 s for Fastify, 5 s for Node',
    mask: (value) => value.replace(/timeout=\d+/, 'timeout=(some)'),
  },
]

/** Of an error that a page throws, Next sends a hash of its stack, which names the folder that the app is in. */
const DIGEST = /(digest\\*":\\*"|data-dgst=")\d+/g

/** What is rendered for one request carries a random id, in the keys of its head; in a page it is quoted once more. */
const REQUEST_ID = /(\[\\*"\$\\*",\\*"\$\w+\\*",\\*")[\w-]{21}([a-z]\\*",)/g

/** An answer without what may differ; ports are those of the servers themselves, which write them into URLs. */
function comparable(answer: RawAnswer, origin: string): { status: string; headers: string[]; body: string } {
  const { port } = new URL(origin)
  const headers = answer.headers.map(([name, value]) => {
    const exception = EXCEPTIONS.find(({ header }) => header === name.toLowerCase())
    return `${name}: ${(exception ? exception.mask(value) : value).replaceAll(`:${port}`, ':(port)')}`
  })
  const body = joined(answer.body.toString('latin1'))
    .replaceAll(`:${port}`, ':(port)')
    .replaceAll(DIGEST, '$1(digest)')
    .replaceAll(REQUEST_ID, '$1(request)$2')
  return { status: answer.status, headers, body }
}

/**
 * React sends what it has when the system lets it: the data of a page comes in more or fewer scripts, and before or
 * after the parts of it that were late. It is put together behind all else.
 */
function joined(body: string): string {
  let data = ''
  const rest = body.replaceAll(/<script>self\.__next_f\.push\(\[1,"(.*?)"\]\)<\/script>/gs, (_, part: string) => {
    data += part
    return ''
  })
  return rest + data
}

/** How two answers differ, in words, or undefined. */
export function difference(reference: [RawAnswer, string], candidate: [RawAnswer, string]): string | undefined {
  const right = comparable(...reference)
  const found = comparable(...candidate)
  if (isDeepStrictEqual(right, found)) return undefined
  const lines: string[] = []
  if (right.status !== found.status) lines.push(`status: ${right.status} | ${found.status}`)
  if (!isDeepStrictEqual(right.headers, found.headers)) {
    const missing = right.headers.filter((header) => !found.headers.includes(header))
    const added = found.headers.filter((header) => !right.headers.includes(header))
    for (const header of missing) lines.push(`- ${header}`)
    for (const header of added) lines.push(`+ ${header}`)
    if (missing.length === 0 && added.length === 0) {
      lines.push(`order: ${right.headers.join(', ')}`, `    | ${found.headers.join(', ')}`)
    }
  }
  if (right.body !== found.body) {
    let at = 0
    while (right.body[at] === found.body[at]) at++
    const around = (body: string): string => JSON.stringify(body.slice(Math.max(0, at - 60), at + 100))
    lines.push(
      `body: ${right.body.length} | ${found.body.length} bytes, from ${at} on`,
      `    ${around(right.body)}`,
      `  | ${around(found.body)}`,
    )
  }
  return lines.map((line) => `    ${line}`).join('\n')
}

/**
 * What Node's parser refuses never reaches Next. Fastify says so in JSON, Node without a body: the status is enough.
 */
const REFUSED = /^HTTP\/1\.1 4(?:00|31) /
const refused = ({ status, headers }: RawAnswer): boolean =>
  REFUSED.test(status) && !headers.some(([name]) => name.toLowerCase() === 'date')

/** Asks both, and says how their answers differ. */
export async function compare(
  { reference, candidate }: Pair,
  request: RawRequest,
): Promise<{ right: RawAnswer; found: string | undefined }> {
  const [right, other] = await Promise.all([outcome(reference, request), outcome(candidate, request)])
  const bothRefused = refused(right) && refused(other) && right.status === other.status
  return { right, found: bothRefused ? undefined : difference([right, reference], [other, candidate]) }
}

/** A connection that ends without an answer is an answer, too. */
async function outcome(origin: string, request: RawRequest): Promise<RawAnswer> {
  try {
    return await ask(origin, request)
  } catch (error) {
    return { status: `no answer: ${(error as Error).message}`, headers: [], body: Buffer.alloc(0) }
  }
}

/** A request in one line, as reports have it. */
export function titleOf({ method = 'GET', target, headers = [] }: RawRequest): string {
  const short = target.length > 100 ? `${target.slice(0, 80)}… (${target.length})` : target
  return [`${method} ${short}`, ...headers.map(([name, value]) => `${name}: ${value.slice(0, 80)}`)].join(' | ')
}

/**
 * Asks each request as often as `times` says, and what follows from the right answer too; lists what differed, and
 * counts what was asked.
 */
export async function differencesOf(
  pair: Pair,
  requests: readonly RawRequest[],
  times: number,
  followUps: (request: RawRequest, answer: RawAnswer) => readonly RawRequest[] = () => [],
): Promise<{ differences: string[]; requests: number; statuses: Set<string> }> {
  const differences: string[] = []
  const statuses = new Set<string>()
  const queue = [...requests]
  for (const request of queue) {
    for (let time = 1; time <= times; time++) {
      const { right, found } = await compare(pair, request)
      statuses.add(right.status)
      if (found) differences.push(`${titleOf(request)} (asked ${time}x)\n${found}`)
      // What follows from something that follows is not asked.
      if (time === 1 && requests.includes(request)) queue.push(...followUps(request, right))
    }
  }
  return { differences, requests: queue.length, statuses }
}
