// Sends a response by Fastify.

import { setImmediate as endOfTick } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { isThenable } from '../runtime/sync-chain.ts'
import { busyTick, sendAtEndOfTick } from './busy-tick.ts'
import { forgetLength } from './framing.ts'
import { type OnSendHooks, setHead, setWholeHead } from './head-across-hooks.ts'
import type { PlainResponse } from './ready-response.ts'

/**
 * Sends responses of one event-loop tick together: a third less CPU with 100 connections. `cork()` does not help,
 * because Node uncorks a connection where a response ends. A stream is sent immediately, so that Fastify sees it fail.
 * See docs/measurements.md#write-batching
 */
export function sendBatched(
  reply: FastifyReply,
  response: PlainResponse | Promise<PlainResponse>,
  hooks: OnSendHooks,
): void | Promise<unknown> {
  if (isThenable(response)) return sendLater(reply, response, hooks)
  if (waits(reply, response)) sendAtEndOfTick(reply, () => send(reply, response, hooks))
  else send(reply, response, hooks)
}

async function sendLater(reply: FastifyReply, pending: Promise<PlainResponse>, hooks: OnSendHooks): Promise<unknown> {
  const response = await pending
  if (waits(reply, response)) await endOfTick()
  send(reply, response, hooks)
  // With asynchronous `onSend` hooks the response is not out yet; Fastify then waits for it.
  return reply.raw.headersSent ? undefined : reply
}

function waits({ raw }: FastifyReply, { body }: PlainResponse): boolean {
  return typeof body === 'string' && busyTick.shouldWait(raw)
}

/**
 * Sends a response as Fastify sends the `Response` of tRPC's own adapter, but in one piece. If the reply was touched,
 * it sends a real `Response`, which leaves status and headers alone until the `onSend` hooks are done. The user may
 * have sent the reply, which shows only then.
 */
function send(reply: FastifyReply, response: PlainResponse, hooks: OnSendHooks): void {
  const { status, headers, body } = response
  // Fastify logs that the reply was already sent.
  if (reply.sent) {
    if (typeof body !== 'string') body.destroy()
    return void reply.send(body)
  }
  const isTouched = reply.statusCode !== 200 || reply.hasHeader('content-type')
  const isPlainText = typeof body === 'string' && !isTouched && arePlain(headers)
  if (!isPlainText) forgetLength(reply)
  if (typeof body === 'string' && !isPlainText) return void reply.send(new Response(body, { status, headers }))
  if (hooks.isEmpty) setWholeHead(reply, response)
  else setHead(reply, response)
  // Without a serializer, Fastify would add a charset to the content type.
  if (typeof body === 'string') reply.serializer(unchanged)
  reply.send(body)
}

/** Fastify calls it as a method of the reply. It removes itself, so that an error handler can send another body. */
function unchanged(this: FastifyReply, body: unknown): string {
  this.serializer(null as never)
  return body as string
}

/** Content types that Fastify accepts. It replaces others by one of its own, but not in a `Response`. */
const PLAIN_TYPE = /^[\w.+-]+\/[\w.+-]+$/

/** Whether headers of `responseMeta` have no effect on how the body is sent. */
function arePlain(headers: PlainResponse['headers']): boolean {
  return !(headers instanceof Headers) || PLAIN_TYPE.test(headers.get('content-type') ?? '')
}
