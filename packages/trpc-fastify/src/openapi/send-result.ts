// Sends the result of a procedure as Fastify sends a value that a handler returns, and an error as one that it throws.

import { setImmediate as endOfTick } from 'node:timers/promises'
import { TRPCError } from '@trpc/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TrpcRequest } from '../request/trpc-request.ts'
import { type CallResult, callResponse, type RespondOptions } from '../response/call-procedure.ts'
import { responseHead } from '../response/head.ts'
import { isDataStream, streamUnsupported } from '../response/respond.ts'
import { busyTick, sendAtEndOfTick } from '../response/busy-tick.ts'
import { isThenable } from '../runtime/sync-chain.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Returns the error for a body whose content type the route does not take. */
export function unsupportedType(
  { headers }: FastifyRequest,
  contentTypes: readonly string[],
): (TRPCError & { statusCode: number }) | undefined {
  const type = headers['content-type']
  if (type === undefined || contentTypes.includes(type)) return undefined
  const sent = type.toLowerCase().split(';', 1)[0]!.trim()
  if (contentTypes.includes(sent)) return undefined
  const message = `Unsupported content type: expected ${contentTypes.join(' or ')}, got ${sent.slice(0, 100)}`
  return Object.assign(new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE', message }), { statusCode: 415 })
}

/** Sends a result, together with the others of a busy event-loop tick. See docs/measurements.md#write-batching */
export function sendBatched(
  request: TrpcRequest,
  result: CallResult | Promise<CallResult>,
  options: RespondOptions,
): void | Promise<FastifyReply> {
  if (isThenable(result)) return sendLater(request, result, options)
  const { reply } = request
  if (busyTick.shouldWait(reply.raw)) sendAtEndOfTick(reply, () => sendResult(request, result, options))
  else sendResult(request, result, options)
}

async function sendLater(
  request: TrpcRequest,
  pending: Promise<CallResult>,
  options: RespondOptions,
): Promise<FastifyReply> {
  const result = await pending
  if (busyTick.shouldWait(request.reply.raw)) await endOfTick()
  return sendResult(request, result, options)
}

/** Sends the result. Throws the error of a call, so that Fastify's error handler responds. */
function sendResult(request: TrpcRequest, found: CallResult, options: RespondOptions): FastifyReply {
  const { reply, calls } = request
  const result = 'data' in found && isDataStream(found.data) ? { error: streamUnsupported() } : found
  const errors = 'error' in result ? [result.error] : []
  const head = responseHead(request, [callResponse(request, 0, result, options)], errors, errors, options)
  reply.code(head.status)
  for (const [name, value] of head.headers instanceof Headers ? head.headers : Object.entries(head.headers)) {
    reply.header(name, value)
  }
  if ('error' in result) throw described(result.error)
  const { data } = result
  if (data === undefined) return reply.send()
  const { serialize } = calls[0]!.target
  if (serialize) return reply.type(JSON_TYPE).send(serialize(data))
  // Fastify sends a string as plain text.
  return typeof data === 'string' ? reply.type(JSON_TYPE).send(JSON.stringify(data)) : reply.send(data)
}

/** The JSON of a body. Fastify passes the members of an error response as an error, which JSON.stringify would leave out. */
export function toJson(body: unknown): string {
  if (!(body instanceof Error)) return JSON.stringify(body)
  const { statusCode, code, error, message } = body as Error & Partial<Record<'statusCode' | 'code' | 'error', unknown>>
  return JSON.stringify({ statusCode, code, error, message })
}

interface Issue {
  readonly message: string
  readonly path?: readonly unknown[]
}

/** An error of a validator has its issues in one line, instead of as JSON. */
function described(error: TRPCError): TRPCError {
  const { issues } = (error.cause ?? {}) as { issues?: readonly Issue[] }
  if (error.code !== 'BAD_REQUEST' || !Array.isArray(issues)) return error
  const lines = (issues as readonly Issue[]).map(({ path = [], message }) => {
    const keys = path.map((key) => String((key as { key?: unknown } | null)?.key ?? key))
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
  })
  return new TRPCError({ code: 'BAD_REQUEST', message: lines.join('; '), cause: error.cause })
}
