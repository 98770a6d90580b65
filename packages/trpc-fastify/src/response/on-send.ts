// The status and headers of a response on their way through the `onSend` hooks of the user. The official adapter applies
// its own after the hooks. Here hooks see them, and afterwards they win as they do there.

import { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { fitForHttp2 } from './http2.ts'
import type { Answer } from './send.ts'

/** A response that Fastify has, and the hooks have not passed on yet. */
interface Pending {
  readonly answer: Answer
  /** What the reply had before. */
  readonly status: number
  readonly replaced: Readonly<Record<string, unknown>> | undefined
}

const PENDING = Symbol('trpc-fastify: pending response')

type Reply = FastifyReply & { [PENDING]: Pending | null }

/**
 * Prepares an app for {@link setHead}. Its own `onRoute` hook runs after those of the apps around it, which may add
 * `onSend` hooks to a route as `@fastify/compress` does, so that the hooks here are the last ones.
 */
export function settleHeads(app: FastifyInstance): void {
  app.decorateReply(PENDING, null)
  app.addHook('onRoute', (route) => {
    route.onSend = [route.onSend ?? [], settleHead].flat()
    route.onError = [route.onError ?? [], undoHead].flat()
  })
}

/** Headers that are set after the hooks. Cookies of hooks come before these; Node remembers others as removed for good. */
const AFTER_HOOKS = new Set(['connection', 'set-cookie', 'transfer-encoding'])

/** Sets the status and the headers that hooks may see. */
export function setHead(reply: FastifyReply, answer: Answer): void {
  let replaced: Record<string, unknown> | undefined
  const { headers } = answer
  const status = reply.statusCode
  for (const [name, value] of entriesOf(headers)) {
    if (AFTER_HOOKS.has(name)) continue
    const before = reply.getHeader(name)
    if (before !== undefined) (replaced ??= {})[name] ??= before
    reply.header(name, value)
  }
  reply.code(answer.status)
  ;(reply as Reply)[PENDING] = { answer, status, replaced }
}

/** A hook that has replaced the payload knows its status and headers, as of a compressed or empty one; others do not. */
function settleHead(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  if (reply.sent) return drop(request, reply, payload)
  const pending = (reply as Reply)[PENDING]
  if (pending !== null) {
    ;(reply as Reply)[PENDING] = null
    const { status, headers, body } = pending.answer
    const isOurs = payload === body
    if (isOurs && reply.statusCode !== status) reply.code(status)
    for (const [name, value] of entriesOf(headers)) {
      if (name === 'set-cookie' || (isOurs && reply.getHeader(name) !== value)) reply.header(name, value)
    }
  }
  done(null, request.raw.httpVersionMajor > 1 ? fitForHttp2(reply, payload) : payload)
}

/** The procedure has responded by itself while hooks ran. To go on would end its response over HTTP/2. */
function drop({ url, method }: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  reply.log.warn({ err: new errorCodes.FST_ERR_REP_ALREADY_SENT(url, method) }, 'Reply was already sent')
  if (payload instanceof Readable) payload.destroy()
  if (payload instanceof Response) void payload.body?.cancel()
}

/** What a hook has thrown is a response of its own. */
function undoHead(_request: FastifyRequest, reply: FastifyReply, _error: Error, done: () => void): void {
  const pending = (reply as Reply)[PENDING]
  if (pending !== null) {
    ;(reply as Reply)[PENDING] = null
    const { answer, status, replaced } = pending
    if (typeof answer.body !== 'string') answer.body.destroy()
    for (const [name, value] of entriesOf(answer.headers)) {
      if (reply.getHeader(name) !== value) continue
      const before = replaced?.[name]
      if (before === undefined) reply.removeHeader(name)
      else reply.header(name, before)
    }
    reply.code(status)
  }
  done()
}

function entriesOf(headers: Answer['headers']): Iterable<[name: string, value: string]> {
  return headers instanceof Headers ? headers : Object.entries(headers)
}
