// Heads of responses, as lists of alternating names and values.

import type { OutgoingHttpHeader, ServerResponse } from 'node:http'

/** The names and values of a head. */
export function pairsOf(head: readonly string[]): (readonly [name: string, value: string])[] {
  return Array.from({ length: head.length / 2 }, (_, index) => [head[index * 2] ?? '', head[index * 2 + 1] ?? ''])
}

/** The first value of a header, by its lower-case name. */
export function valueOf(head: readonly string[], wanted: string): string | undefined {
  return pairsOf(head).find(([name]) => name.toLowerCase() === wanted)?.[1]
}

/** Headers by whose value Next decides which headers it sets, or whether it compresses. */
const DECISIVE =
  /^(?:accept-ranges|cache-control|content-.*|etag|last-modified|transfer-encoding|vary|x-next.*|x-powered-by)$/

/** The part of headers set before Next that decides how Next responds. It skips some headers that already exist. */
export function decisive(headers: Iterable<readonly [name: string, value: string]>): string {
  let key = ''
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    key += DECISIVE.test(lower) ? `\n${lower}: ${value}` : `\n${lower}`
  }
  return key
}

/** The headers of a response, by lower-case name. */
export function headersNow(response: ServerResponse): Map<string, string> {
  return new Map(response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]))
}

/** A method that every outgoing message has, but that is typed for requests only. */
interface RawHeaderNames {
  getRawHeaderNames(): string[]
}

/** Headers that Node sets as the connection requires. */
const CONNECTION_HEADERS = new Set(['connection', 'date', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'])

/** The headers that were set since `before`, or undefined if a header of before has changed. */
export function headersSince(response: ServerResponse, before: ReadonlyMap<string, string>): string[] | undefined {
  const head: string[] = []
  let unchanged = 0
  for (const name of (response as unknown as RawHeaderNames).getRawHeaderNames()) {
    const value = response.getHeader(name)
    const previous = before.get(name.toLowerCase())
    if (previous !== undefined) {
      if (previous !== String(value)) return undefined
      unchanged++
    } else if (CONNECTION_HEADERS.has(name.toLowerCase())) {
      return undefined
    } else {
      for (const one of valuesOf(value)) head.push(name, one)
    }
  }
  return unchanged === before.size ? head : undefined
}

function valuesOf(value: OutgoingHttpHeader | undefined): string[] {
  return Array.isArray(value) ? value : [String(value)]
}
