import type { FastifyInstance, FastifyPluginCallback, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import { batchConnection } from './batched-connection.ts'
import { InvalidOptionError } from './errors.ts'
import { createWriteBatch } from './write-batch.ts'

/** The plugin has only the options that Fastify itself reads. */
export type FastifyWriteBatchingOptions = RegisterOptions

/** How many writes an app has batched. A response that is not streamed is one write. */
export interface WriteBatchingStats {
  /** Writes that waited, until the end of their tick or the 32nd write. */
  readonly batched: number
  /** Writes that did not wait. Pipelined responses are not all counted. */
  readonly immediate: number
}

declare module 'fastify' {
  interface FastifyInstance {
    /** How many writes fastify-write-batching has batched. */
    writeBatchingStats: () => WriteBatchingStats
  }
}

/** Options that Fastify itself reads. */
const REGISTER_OPTIONS = new Set(['prefix', 'logLevel', 'logSerializers'])

function plugin(app: FastifyInstance, options: FastifyWriteBatchingOptions, done: (error?: Error) => void): void {
  const unknown = Object.keys(options).find((name) => !REGISTER_OPTIONS.has(name))
  if (unknown !== undefined) return done(new InvalidOptionError(unknown))
  // Plugins of one app may each register it.
  if (app.hasDecorator('writeBatchingStats')) return done()

  const batch = createWriteBatch()
  app.decorate('writeBatchingStats', () => ({ batched: batch.batched, immediate: batch.immediate }))
  // Not the event `connection`: `listen({ host: 'localhost' })` makes servers that are not `app.server`.
  app.addHook('onRequest', ({ raw }, _reply, next) => {
    // A request of HTTP/2 has a proxy in place of its socket.
    if (raw.httpVersionMajor === 1) batchConnection(raw.socket, batch)
    next()
  })
  done()
}

/**
 * Writes responses that become ready in the same event-loop tick together, which wakes the reading process once. A
 * response waits only when the tick before had several, so a lone client loses nothing. Register it once, on the root
 * app.
 *
 * @throws FASTIFY_WRITE_BATCHING_INVALID_OPTION
 *
 * @example
 * await app.register(fastifyWriteBatching)
 */
export const fastifyWriteBatching: FastifyPluginCallback<FastifyWriteBatchingOptions> = fp(plugin, {
  fastify: '5.x',
  name: 'fastify-write-batching',
})
