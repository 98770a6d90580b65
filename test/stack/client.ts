// A client that sends each request once: if a connection is closed at the wrong time, the request fails.

import { type Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON by POST. */
  readonly json?: unknown
  readonly agent?: Agent
}

/** Milliseconds. */
const TIMEOUT = 30_000

export function send(url: string, { headers, json, agent }: Sent = {}): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const sent = request(
    url,
    {
      method: json === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(agent && { agent }),
    },
    (response) => {
      response.toArray().then(
        (chunks) =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks as Buffer[]).toString(),
          }),
        reject,
      )
    },
  )
  sent.setTimeout(TIMEOUT, () => sent.destroy(new Error(`${url} has not responded`)))
  sent.on('error', reject).end(json === undefined ? undefined : JSON.stringify(json))
  return promise
}
