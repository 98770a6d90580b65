// Status and headers of a response, including those from `responseMeta`.

import type { TRPCError } from '@trpc/server'
import { getHTTPStatusCode, type ResponseMeta } from '@trpc/server/http'
import type { RespondOptions, CallResponse } from './call-procedure.ts'
import type { TrpcRequest } from '../request/trpc-request.ts'
import type { PlainResponse } from './ready-response.ts'

type TrpcResponses = Parameters<typeof getHTTPStatusCode>[0]
export type Head = Omit<PlainResponse, 'body'>

/** Returns status and headers, including those from `responseMeta`. */
export function responseHead(
  request: TrpcRequest,
  responses: CallResponse | CallResponse[],
  errors: readonly (TRPCError | undefined)[],
  defined: TRPCError[],
  options: RespondOptions,
): Head {
  const status = defined.length === 0 ? 200 : getHTTPStatusCode(responses as TrpcResponses, errors)
  const data = Array.isArray(responses) ? responses : [responses]
  return withMeta(request, options, { status, headers: options.headers }, data, defined)
}

/** The same, before any result is known. */
export function streamHead(
  request: TrpcRequest,
  options: RespondOptions,
  headers: Readonly<Record<string, string>>,
): Head {
  const head = withMeta(request, options, { status: 200, headers }, undefined, [])
  return { ...head, status: checkedStatus(head.status) }
}

function withMeta(
  request: TrpcRequest,
  { trpcOptions: { responseMeta } }: RespondOptions,
  { status, headers }: { status: number; headers: Readonly<Record<string, string>> },
  data: CallResponse[] | undefined,
  errors: TRPCError[],
): Head {
  if (!responseMeta) return { status, headers: request.headers ?? headers }
  const { info, ctx, calls, type } = request
  const meta = responseMeta({
    ctx: ctx as object,
    info,
    paths: calls.map(({ path }) => path),
    data: (data ?? []) as never,
    errors,
    eagerGeneration: !data,
    type,
  }) as ResponseMeta | undefined
  if (meta?.headers) addHeaders(request, request.headers ?? headers, meta.headers)
  return { status: meta?.status || status, headers: request.headers ?? headers }
}

/** A body that is complete needs no chunks. */
export function withoutChunkedEncoding({ status, headers }: Head): Head {
  if (headers instanceof Headers) {
    headers.delete('transfer-encoding')
    return { status, headers }
  }
  const { 'transfer-encoding': _, ...others } = headers
  return { status, headers: others }
}

/** Adds headers to the request. If one of them throws, the earlier ones stay, as in tRPC. */
function addHeaders(
  request: TrpcRequest,
  headers: PlainResponse['headers'],
  added: NonNullable<ResponseMeta['headers']>,
): void {
  const entries = added instanceof Headers ? undefined : Object.entries(added)
  const plain = entries && withPlainHeaders(headers, entries)
  if (plain) {
    request.headers = plain
    return
  }
  const all = (request.headers = headers instanceof Headers ? headers : new Headers(headers))
  if (!entries) {
    for (const [name, value] of added as Headers) all.append(name, value)
    return
  }
  for (const [name, value] of entries) {
    if (Array.isArray(value)) for (const one of value) all.append(name, one)
    else if (typeof value === 'string') all.set(name, value)
  }
}

const PLAIN_NAME = /^[a-z][a-z-]*$/
const PLAIN_VALUE = /^[!-~](?:[ -~]*[!-~])?$/
/** Headers that decide how a response is sent. */
const SPECIAL_NAMES = new Set(['content-type', 'set-cookie'])

/**
 * Equals `Headers` where that only sorts the names. `Headers` costs 8 % more CPU per call. See
 * docs/measurements.md#sorted-headers
 */
function withPlainHeaders(
  headers: PlainResponse['headers'],
  added: [string, unknown][],
): Readonly<Record<string, string>> | undefined {
  if (headers instanceof Headers) return undefined
  const all: Record<string, string> = { ...headers }
  for (const [key, value] of added) {
    if (value === undefined) continue
    const name = key.toLowerCase()
    if (typeof value !== 'string' || !PLAIN_VALUE.test(value)) return undefined
    if (!PLAIN_NAME.test(name) || SPECIAL_NAMES.has(name)) return undefined
    all[name] = value
  }
  const sorted: Record<string, string> = {}
  for (const name of Object.keys(all).toSorted()) sorted[name] = all[name]!
  return sorted
}

/** Throws for a status that no `Response` with a body can have, with the error of `Response`. */
export function checkedStatus(status: number): number {
  const isPlain = Number.isInteger(status) && status > 205 && status < 600 && status !== 304
  return isPlain || status === 200 || status === 201 ? status : new Response('', { status }).status
}
