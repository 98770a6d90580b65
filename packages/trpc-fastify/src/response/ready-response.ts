import type { Readable } from 'node:stream'
import { retainClass } from '../runtime/hidden-classes.ts'

/** A response that is ready to be sent. */
export interface PlainResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>> | Headers
  readonly body: string | Readable
}

/** Creates a response, always with the same hidden class. */
export function plainResponse(
  status: number,
  headers: PlainResponse['headers'],
  body: PlainResponse['body'],
): PlainResponse {
  return { status, headers, body }
}

export function headerEntries(headers: PlainResponse['headers']): Iterable<[name: string, value: string]> {
  return headers instanceof Headers ? headers : Object.entries(headers)
}

retainClass(plainResponse(200, {}, ''))
