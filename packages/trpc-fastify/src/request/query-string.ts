// The query string of a request, as far as tRPC reads it.

import { parseConnectionParamsFromString, type TRPCRequestInfo } from '@trpc/server/http'

/** Characters that a URL parser leaves as they are, and no fragment. */
const PLAIN_URL = /^\/(?![/\\])[!"$-~]*$/

/** The query parameters that matter. */
export interface Query {
  readonly isBatch: boolean
  readonly input: string | null
  readonly connectionParams: TRPCRequestInfo['connectionParams']
  readonly lastEventId: string | null
}

const NO_QUERY: Query = { isBatch: false, input: null, connectionParams: null, lastEventId: null }

/** Reads the query; nothing when a URL parser is needed to be sure. */
export function readQuery(url: string): Query | undefined {
  if (!PLAIN_URL.test(url)) return undefined
  const start = url.indexOf('?')
  if (start === -1) return NO_QUERY
  const values: Record<string, string | undefined> = {
    batch: undefined,
    input: undefined,
    connectionParams: undefined,
    lastEventId: undefined,
    'Last-Event-Id': undefined,
  }
  let equals = 0
  for (let from = start + 1; from <= url.length;) {
    const and = url.indexOf('&', from)
    const to = and === -1 ? url.length : and
    // Of many parameters without a value, each would search the rest of the URL for one.
    if (equals !== -1 && equals < from) equals = url.indexOf('=', from)
    const end = equals === -1 || equals > to ? to : equals
    const name = url.slice(from, end)
    if (name.includes('%') || name.includes('+')) return undefined
    // Of several, the first counts.
    if (Object.hasOwn(values, name) && values[name] === undefined) {
      values[name] = decode(url.slice(end + 1, to))
      if (values[name] === undefined) return undefined
    }
    from = to + 1
  }
  const connectionParams = readConnectionParams(values['connectionParams'])
  if (connectionParams === undefined) return undefined
  return {
    isBatch: values['batch'] === '1',
    input: values['input'] ?? null,
    connectionParams,
    lastEventId: values['lastEventId'] ?? values['Last-Event-Id'] ?? null,
  }
}

function readConnectionParams(text: string | undefined): TRPCRequestInfo['connectionParams'] | undefined {
  if (text === undefined) return null
  try {
    return parseConnectionParamsFromString(text)
  } catch {
    return undefined
  }
}

/** Decodes as URLSearchParams does, or not at all where that would put U+FFFD for what is malformed. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text)
  } catch {
    return undefined
  }
}
