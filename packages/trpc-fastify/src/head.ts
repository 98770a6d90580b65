// Status and headers of an answer, with what `responseMeta` makes of them.

import type { TRPCError } from '@trpc/server'
import { getHTTPStatusCode, type ResponseMeta } from '@trpc/server/http'
import type { AnswerOptions, CallResponse } from './calls.ts'
import type { FastTrpcRequest } from './request.ts'
import type { Answer } from './send.ts'

type TrpcResponses = Parameters<typeof getHTTPStatusCode>[0]
export type Head = Omit<Answer, 'body'>

/** Status and headers, with what `responseMeta` makes of them. */
export function headOf(
  request: FastTrpcRequest,
  responses: CallResponse | CallResponse[],
  errors: readonly (TRPCError | undefined)[],
  defined: TRPCError[],
  options: AnswerOptions,
): Head {
  const status = defined.length === 0 ? 200 : getHTTPStatusCode(responses as TrpcResponses, errors)
  const data = Array.isArray(responses) ? responses : [responses]
  return withMeta(request, options, { status, headers: options.headers }, data, defined)
}

/** The same before any result is known. */
export function eagerHeadOf(
  request: FastTrpcRequest,
  options: AnswerOptions,
  headers: Readonly<Record<string, string>>,
): Head {
  const head = withMeta(request, options, { status: 200, headers }, undefined, [])
  return { ...head, status: proven(head.status) }
}

function withMeta(
  request: FastTrpcRequest,
  { trpcOptions: { responseMeta } }: AnswerOptions,
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
  if (meta?.headers) addHeaders((request.headers ??= new Headers(headers)), meta.headers)
  return { status: meta?.status || status, headers: request.headers ?? headers }
}

/** A body that is complete needs no chunks. */
export function inOnePiece({ status, headers }: Head): Head {
  if (headers instanceof Headers) {
    headers.delete('transfer-encoding')
    return { status, headers }
  }
  const { 'transfer-encoding': _, ...others } = headers
  return { status, headers: others }
}

function addHeaders(headers: Headers, added: NonNullable<ResponseMeta['headers']>): void {
  if (added instanceof Headers) {
    for (const [name, value] of added) headers.append(name, value)
    return
  }
  for (const [name, value] of Object.entries(added)) {
    if (Array.isArray(value)) for (const one of value) headers.append(name, one)
    else if (typeof value === 'string') headers.set(name, value)
  }
}

/** A status that no `Response` with a body can have throws here what it would throw there. */
export function proven(status: number): number {
  const isPlain = Number.isInteger(status) && status > 205 && status < 600 && status !== 304
  return isPlain || status === 200 || status === 201 ? status : new Response('', { status }).status
}
