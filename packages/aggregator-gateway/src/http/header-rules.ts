// Which headers can be sent, and which concern a single connection.

/** Headers of one connection, which are never forwarded (RFC 9110, 7.6.1). undici sets the last two. */
const HOP_BY_HOP = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'expect', 'content-length', 'host'],
]

/** A token (RFC 9110, 5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
/** Node and undici send header values as Latin-1. */
// oxlint-disable-next-line no-control-regex -- Tabs are allowed, other control characters are not.
const VALUE = /^[\t\u0020-\u007E\u0080-\u00FF]*$/

/** Whether a header may be forwarded to another connection. Names are in lower case. */
export function isEndToEnd(name: string): boolean {
  return !HOP_BY_HOP.includes(name)
}

/** Whether options and functions may set a header of this name, which is in lower case. */
export function isSettable(name: string): boolean {
  return NAME.test(name) && (isEndToEnd(name) || name === 'host')
}

export function isHeaderValue(value: string): boolean {
  return VALUE.test(value)
}

/** Headers named by a `connection` header: they concern that connection, too (RFC 9110, 7.6.1). */
export function connectionHeadersOf(connection: string | string[] | undefined): readonly string[] {
  if (connection === undefined) return []
  return String(connection)
    .split(',')
    .map((name) => name.trim().toLowerCase())
}

/** Headers that identify a trace or a request. No response depends on them, so they are not part of cache keys. */
const TRACE_HEADERS: ReadonlySet<string> = new Set([
  ...[
    'traceparent',
    'tracestate',
    'b3',
    'x-b3-traceid',
    'x-b3-spanid',
    'x-b3-parentspanid',
    'x-b3-sampled',
    'x-b3-flags',
  ],
  ...['uber-trace-id', 'x-amzn-trace-id', 'x-cloud-trace-context', 'sentry-trace', 'x-request-id', 'x-correlation-id'],
  ...['x-datadog-trace-id', 'x-datadog-parent-id', 'x-datadog-sampling-priority', 'x-datadog-tags', 'x-datadog-origin'],
])

export function isTraceHeader(name: string): boolean {
  return TRACE_HEADERS.has(name.toLowerCase())
}
