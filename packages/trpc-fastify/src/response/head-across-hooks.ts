// The status and headers of a response on their way through the `onSend` hooks of the user. tRPC's adapter sets status
// and headers after the hooks. Here hooks see them; afterwards they are set again, as by the adapter, unless a hook
// replaced the payload.

import { Server as HttpServer } from 'node:http'
import { Server as HttpsServer } from 'node:https'
import { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { addOnRouteHook } from './on-send-count.ts'
import { fitForHttp2 } from './http2.ts'
import { headerEntries, type PlainResponse } from './ready-response.ts'

/** A response in the hooks of the user. */
interface Pending {
  readonly response: PlainResponse
  /** Status of the reply before. */
  readonly status: number
  readonly replaced: Readonly<Record<string, unknown>> | undefined
}

const PENDING = Symbol('trpc-fastify: pending response')

type Reply = FastifyReply & { [PENDING]: Pending | null }

/** Whether a route has `onSend` hooks, which is known once the app is ready. */
export interface OnSendHooks {
  isEmpty: boolean
}

/**
 * Adds the last `onSend` hook to the route at a path if it has other ones. Without any, {@link setWholeHead} does the same
 * for less. The `onRoute` hook runs after those of the apps around this one, which may add `onSend` hooks as
 * `@fastify/compress` does.
 */
export function keepHeadAcrossHooks(app: FastifyInstance, path: string): OnSendHooks {
  const onSendHooks: OnSendHooks = { isEmpty: false }
  // Over HTTP/2, responses of tRPC's own adapter need the hook, too.
  const server: unknown = app.server
  const isHttp1 = server instanceof HttpServer || server instanceof HttpsServer
  app.decorateReply(PENDING, null)
  const countHooksOfApp = addOnRouteHook(app, (route) => {
    if (!route.routePath.endsWith(path)) return
    const hooksOfRoute = [route.onSend ?? []].flat()
    // Apps around this one may still get hooks, so the getter counts them when Fastify reads the hooks before it starts.
    Object.defineProperty(route, 'onSend', {
      get() {
        onSendHooks.isEmpty = isHttp1 && hooksOfRoute.length === 0 && countHooksOfApp() === 0
        return onSendHooks.isEmpty ? [] : [...hooksOfRoute, settleHead]
      },
      enumerable: true,
    })
    route.onError = [route.onError ?? [], undoHead].flat()
  })
  return onSendHooks
}

/** Headers that are set after the hooks. Cookies of hooks come before these; Node remembers others as removed for good. */
const AFTER_HOOKS = new Set(['connection', 'set-cookie', 'transfer-encoding'])

/** Sets the status and the headers of a response that no hook sees, in the same order. */
export function setWholeHead(reply: FastifyReply, { status, headers }: PlainResponse): void {
  let last: [string, string][] | undefined
  for (const entry of headerEntries(headers)) {
    if (AFTER_HOOKS.has(entry[0])) (last ??= []).push(entry)
    else reply.header(entry[0], entry[1])
  }
  if (last) for (const [name, value] of last) reply.header(name, value)
  reply.code(status)
}

/** Sets the status and the headers that hooks may see. */
export function setHead(reply: FastifyReply, response: PlainResponse): void {
  let replaced: Record<string, unknown> | undefined
  const status = reply.statusCode
  for (const [name, value] of headerEntries(response.headers)) {
    if (AFTER_HOOKS.has(name)) continue
    const before = reply.getHeader(name)
    if (before !== undefined) (replaced ??= {})[name] ??= before
    reply.header(name, value)
  }
  reply.code(response.status)
  ;(reply as Reply)[PENDING] = { response, status, replaced }
}

/** A hook that replaced the payload has set its status and headers, as for a compressed or empty one. */
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
    const { status, headers, body } = pending.response
    const isOurs = payload === body
    if (isOurs && reply.statusCode !== status) reply.code(status)
    for (const [name, value] of headerEntries(headers)) {
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

/** An error of a hook gets a response of its own. */
function undoHead(_request: FastifyRequest, reply: FastifyReply, _error: Error, done: () => void): void {
  const pending = (reply as Reply)[PENDING]
  if (pending !== null) {
    ;(reply as Reply)[PENDING] = null
    const { response, status, replaced } = pending
    if (typeof response.body !== 'string') response.body.destroy()
    for (const [name, value] of headerEntries(response.headers)) {
      if (reply.getHeader(name) !== value) continue
      const before = replaced?.[name]
      if (before === undefined) reply.removeHeader(name)
      else reply.header(name, before)
    }
    reply.code(status)
  }
  // A streamed batch that fails before its first line has set it, and Fastify sends errors with a length.
  const { raw } = reply
  if (!raw.headersSent && raw.hasHeader('transfer-encoding')) {
    reply.removeHeader('transfer-encoding')
    raw.removeHeader('transfer-encoding')
  }
  done()
}
