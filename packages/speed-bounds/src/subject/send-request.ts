import { request } from 'node:http'

/** A response with its whole body. Header names are in lower case. */
export interface WholeResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The parts of a request. */
export interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal: AbortSignal
}

/** Sends a request over a connection of its own, which closes after it: none is open when the load starts. */
export function sendRequest(
  url: string,
  { method = 'GET', headers = {}, body, signal }: RequestOptions,
): Promise<WholeResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<WholeResponse>()
  const sent = request(url, { method, headers: withLength(headers, body), agent: false, signal })
  sent.once('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.once('error', reject)
    response.once('end', () =>
      resolve({
        status: response.statusCode!,
        headers: Object.fromEntries(
          Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(',')]),
        ),
        body: Buffer.concat(chunks),
      }),
    )
  })
  sent.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error))
  sent.end(body)
  return promise
}

/** Resolves at the head of a response. Its body may never end. */
export function awaitResponse(url: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const sent = request(url, { agent: false, signal })
  sent.once('response', (response) => {
    response.destroy()
    resolve()
  })
  sent.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error))
  sent.end()
  return promise
}

/** Node sends a body without its length where a method usually has none, such as GET. */
function withLength(
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Readonly<Record<string, string>> {
  if (body === undefined || Object.keys(headers).some((name) => name.toLowerCase() === 'content-length')) return headers
  return { ...headers, 'content-length': String(Buffer.byteLength(body)) }
}
