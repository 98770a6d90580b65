// Serves the requests that the fast path does not support by tRPC's own adapter, under the same rules.

import type { AnyTRPCRouter } from '@trpc/server'
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TrpcHandlerOptions } from './options/types.ts'
import { CallScope } from './procedure/interceptors/call-scope.ts'
import type { Interceptor } from './procedure/interceptors/create-interceptor.ts'
import { wrapRouter } from './procedure/wrap-router.ts'
import { forgetLength } from './response/framing.ts'
import type { OpenStreams } from './response/open-streams.ts'

/** Options beside those of tRPC. */
export interface FallbackOptions {
  readonly intercept: Interceptor | undefined
  readonly openStreams: OpenStreams | undefined
  readonly bodyLimitOf: (request: FastifyRequest) => number | undefined
}

export function fallbackHandler(
  trpcOptions: TrpcHandlerOptions<AnyTRPCRouter>,
  { intercept, openStreams, bodyLimitOf }: FallbackOptions,
): (req: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return (req, reply) => {
    const { path } = req.params as { path: string }
    const bodyLimit = bodyLimitOf(req)
    const maxBodySize = Math.min(trpcOptions.maxBodySize ?? Infinity, bodyLimit ?? Infinity)
    const options = { ...trpcOptions, ...(bodyLimit === undefined ? {} : { maxBodySize }), req, res: reply, path }
    forgetLength(reply)
    if (!intercept) return handle(req, options)
    const scope = new CallScope(req, reply, {
      isBatch: isBatch(req),
      isStream: req.headers['trpc-accept'] === 'application/jsonl',
      // A regular end would tell the client that no events follow. After a lost connection it connects again.
      ...(openStreams ? { onSubscription: () => openStreams.add(() => reply.raw.destroy()) } : {}),
    })
    const router = wrapRouter(trpcOptions.router, (call, invoke) => intercept(scope, call, invoke))
    return handle(req, { ...options, router })
  }
}

/**
 * tRPC reads an upload from `req.body` only if it is an `IncomingMessage`, which a request over HTTP/2 is not. Without a
 * body it reads the request itself. It checks this before it awaits anything.
 */
function handle(req: FastifyRequest, options: Parameters<typeof fastifyRequestHandler>[0]): Promise<void> {
  const { body, raw } = req
  if (body !== raw || raw.httpVersionMajor === 1) return fastifyRequestHandler(options)
  req.body = undefined
  const handled = fastifyRequestHandler(options)
  req.body = body
  ;(raw as { body?: unknown }).body = body
  return handled
}

/** Reads the query as tRPC does. */
function isBatch({ raw }: FastifyRequest): boolean {
  const { searchParams } = new URL(raw.url!, 'http://localhost')
  return searchParams.get('batch') === '1'
}
