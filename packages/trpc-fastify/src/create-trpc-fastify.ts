import type { AnyTRPCRouter } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import { WebSocketMissingError } from './errors.ts'
import type { CreateTrpcFastifyOptions } from './options/types.ts'
import { splitFactoryOptions } from './options/resolve.ts'
import { trpcPlugin } from './plugin.ts'
import { reconnectOnClose } from './websocket.ts'

/**
 * Creates a Fastify app that serves a tRPC router: `Fastify()` plus {@link trpcPlugin}, and `@fastify/websocket` with
 * `useWSS`.
 *
 * @param options - all options of the plugin in one object, and those of Fastify as `fastify`
 * @throws TRPC_FASTIFY_INVALID_OPTION, TRPC_FASTIFY_WEBSOCKET_MISSING
 *
 * @example
 * const app = await createTrpcFastify({ router: appRouter, createContext, prefix: '/trpc' })
 * await app.listen({ port: 3000 })
 */
export async function createTrpcFastify<TRouter extends AnyTRPCRouter>(
  options: CreateTrpcFastifyOptions<TRouter>,
): Promise<FastifyInstance> {
  const { fastify, plugin } = splitFactoryOptions(options)
  const app = Fastify(fastify)
  if (plugin.useWSS) {
    await app.register(await importWebSocket(), plugin.endStreamsOnClose ? { preClose: reconnectOnClose } : {})
  }
  await app.register(trpcPlugin<TRouter>, plugin)
  return app
}

async function importWebSocket(): Promise<typeof import('@fastify/websocket').default> {
  try {
    return (await import('@fastify/websocket')).default
  } catch (cause) {
    throw Object.assign(
      new WebSocketMissingError('Option "useWSS" needs @fastify/websocket: run `npm install @fastify/websocket`.'),
      {
        cause,
      },
    )
  }
}
