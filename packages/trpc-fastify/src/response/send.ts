// Sends a response through Fastify.

import type { Readable } from 'node:stream'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { isBusyTurn } from '../runtime/write-batching.ts'
import { isThenable } from '../runtime/sync-chain.ts'
import { keepClass } from '../runtime/hidden-classes.ts'
import { setHead } from './on-send.ts'

/** A response that is ready to be sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>> | Headers
  readonly body: string | Readable
}

/** Makes a response, always with the same hidden class. */
export function answerOf(status: number, headers: Answer['headers'], body: Answer['body']): Answer {
  return { status, headers, body }
}

keepClass(answerOf(200, {}, ''))

/**
 * Sends responses of one event-loop tick together: a third less CPU with 100 connections. `cork()` does not help,
 * because Node uncorks a connection where a response ends. A stream is sent immediately, so that Fastify sees it fail.
 * See docs/measurements.md#write-batching
 */
export function sendWithOthers(reply: FastifyReply, answered: Answer | Promise<Answer>): void | Promise<unknown> {
  if (isThenable(answered)) return sendLater(reply, answered)
  if (waits(reply, answered)) setImmediate(sendOrFail, reply, answered)
  else send(reply, answered)
}

async function sendLater(reply: FastifyReply, answered: Promise<Answer>): Promise<unknown> {
  const ready = await answered
  if (waits(reply, ready)) await endOfTurn()
  send(reply, ready)
  // With asynchronous `onSend` hooks the response is not out yet; Fastify then waits for it.
  return reply.raw.headersSent ? undefined : reply
}

function waits({ raw }: FastifyReply, { body }: Answer): boolean {
  return typeof body === 'string' && isBusyTurn(raw)
}

/** Lets Fastify respond to an error as if the handler had thrown it. */
function sendOrFail(reply: FastifyReply, ready: Answer): void {
  try {
    send(reply, ready)
  } catch (cause) {
    reply.send(cause)
  }
}

/**
 * Sends a response as Fastify sends the `Response` of tRPC's own adapter, but in one piece. If the reply was touched,
 * it sends a real `Response`, which leaves status and headers alone until the `onSend` hooks are done. The user may
 * have sent the reply, which shows only then.
 */
function send(reply: FastifyReply, ready: Answer): void {
  const { status, headers, body } = ready
  // Fastify logs that the reply was already sent.
  if (reply.sent) {
    if (typeof body !== 'string') body.destroy()
    return void reply.send(body)
  }
  const isTouched = reply.statusCode !== 200 || reply.hasHeader('content-type')
  if (typeof body === 'string' && (isTouched || !arePlain(headers))) {
    return void reply.send(new Response(body, { status, headers }))
  }
  setHead(reply, ready)
  // Without a serializer, Fastify would add a charset to the content type.
  if (typeof body === 'string') reply.serializer(asItIs)
  reply.send(body)
}

/** Fastify calls it as a method of the reply. It removes itself, so that an error handler can send another body. */
function asItIs(this: FastifyReply, body: unknown): string {
  this.serializer(null as never)
  return body as string
}

/** Content types that Fastify accepts. It replaces others by one of its own, but not in a `Response`. */
const PLAIN_TYPE = /^[\w.+-]+\/[\w.+-]+$/

/** Whether headers of `responseMeta` have no effect on how the body is sent. */
function arePlain(headers: Answer['headers']): boolean {
  if (!(headers instanceof Headers)) return true
  if (headers.has('transfer-encoding') || headers.has('content-length')) return false
  return PLAIN_TYPE.test(headers.get('content-type') ?? '')
}
