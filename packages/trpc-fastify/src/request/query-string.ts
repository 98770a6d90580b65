// Parses the query parameters that tRPC reads.

import { parseConnectionParamsFromString, type TRPCRequestInfo } from '@trpc/server/http'

/** Characters that a URL parser does not change, without a fragment. */
const PLAIN_URL = /^\/(?![/\\])[!"$-~]*$/

/** The query parameters that tRPC reads. */
export interface Query {
  readonly isBatch: boolean
  readonly input: string | null
  readonly connectionParams: TRPCRequestInfo['connectionParams']
  readonly lastEventId: string | null
}

const NO_QUERY: Query = { isBatch: false, input: null, connectionParams: null, lastEventId: null }

/** Parses the query. Returns undefined if it needs a URL parser. */
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
    // Searched once, so that many parameters without a value take linear time.
    if (equals !== -1 && equals < from) equals = url.indexOf('=', from)
    const end = equals === -1 || equals > to ? to : equals
    const name = url.slice(from, end)
    if (name.includes('%') || name.includes('+')) return undefined
    // The first of several wins.
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

/** Decodes as URLSearchParams does. Returns undefined for malformed text, which URLSearchParams replaces by U+FFFD. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text)
  } catch {
    return undefined
  }
}
