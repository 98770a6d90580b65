// Answers what the fast path leaves alone by tRPC's own adapter, under the same rules.

import type { AnyTRPCRouter } from '@trpc/server'
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Around, CallScope } from './around-calls.ts'
import { routerThrough } from './internals.ts'
import type { OpenStreams } from './open-streams.ts'
import type { TrpcHandlerOptions } from './options.ts'

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
    if (!around) return fastifyRequestHandler(options)
    const scope = new CallScope(req, reply, {
      isBatch: isBatch(req),
      // To end the events would tell the client that there are no more; it comes back after a lost connection.
      ...(openStreams ? { onSubscription: () => openStreams.add(() => reply.raw.destroy()) } : {}),
    })
    const router = routerThrough(trpcOptions.router, (call, invoke) => around(scope, call, invoke))
    return fastifyRequestHandler({ ...options, router })
  }
}

/** As tRPC reads it. */
function isBatch({ raw }: FastifyRequest): boolean {
  const { searchParams } = new URL(raw.url!, 'http://localhost')
  return searchParams.get('batch') === '1'
}
