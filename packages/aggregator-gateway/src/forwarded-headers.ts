// Headers of an upstream's request: its own, and those of the client's that are named.

import type { IncomingHttpHeaders } from 'node:http'

export function forwardedHeaders(
  fixed: Readonly<Record<string, string>>,
  names: readonly string[],
  ofClient: IncomingHttpHeaders,
): Readonly<Record<string, string>> {
  if (names.length === 0) return fixed
  const headers = { ...fixed }
  const ofConnection = namedByConnection(ofClient.connection)
  for (const name of names) {
    const value = ofClient[name]
    if (value !== undefined && !ofConnection.includes(name)) headers[name] = String(value)
  }
  return headers
}

/** What `connection` names is about that connection too (RFC 9110, 7.6.1). */
export function namedByConnection(connection: string | string[] | undefined): readonly string[] {
  return connection === undefined
    ? []
    : String(connection)
        .toLowerCase()
        .split(/\s*,\s*/)
}
