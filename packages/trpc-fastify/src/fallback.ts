// Answers what the fast path leaves alone by tRPC's own adapter, under the same rules.

import type { AnyTRPCRouter } from '@trpc/server'
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Around, CallScope } from './procedure/interceptors/interceptor.ts'
import { routerThrough } from './procedure/trpc-internals.ts'
import type { OpenStreams } from './response/open-streams.ts'
import type { TrpcHandlerOptions } from './options/types.ts'

/** What is beside tRPC's own options. */
export interface OfficialHandlerOptions {
  readonly around: Around | undefined
  readonly openStreams: OpenStreams | undefined
  readonly bodyLimitOf: (request: FastifyRequest) => number | undefined
}

/** Makes the handler. */
export function officialHandler(
  trpcOptions: TrpcHandlerOptions<AnyTRPCRouter>,
  { around, openStreams, bodyLimitOf }: OfficialHandlerOptions,
): (req: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return (req, reply) => {
    const { path } = req.params as { path: string }
    const bodyLimit = bodyLimitOf(req)
    const maxBodySize = Math.min(trpcOptions.maxBodySize ?? Infinity, bodyLimit ?? Infinity)
    const options = { ...trpcOptions, ...(bodyLimit === undefined ? {} : { maxBodySize }), req, res: reply, path }
    if (!around) return handle(req, options)
    const scope = new CallScope(req, reply, {
      isBatch: isBatch(req),
      // To end the events would tell the client that there are no more; it comes back after a lost connection.
      ...(openStreams ? { onSubscription: () => openStreams.add(() => reply.raw.destroy()) } : {}),
    })
    const router = routerThrough(trpcOptions.router, (call, invoke) => around(scope, call, invoke))
    return handle(req, { ...options, router })
  }
}

/**
 * tRPC reads an upload from `req.body` only if it is an `IncomingMessage`, which a request over HTTP/2 is not; where there
 * is no body it reads the request itself. It looks before it awaits anything.
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

/** As tRPC reads it. */
function isBatch({ raw }: FastifyRequest): boolean {
  const { searchParams } = new URL(raw.url!, 'http://localhost')
  return searchParams.get('batch') === '1'
}
