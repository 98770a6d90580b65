import type { FastifyBaseLogger } from 'fastify'
import { Redis } from 'ioredis'

/** A command that Redis does not reply to in this time fails, in milliseconds. */
export const COMMAND_TIMEOUT = 2000

/** A client that fails commands at once while Redis is away, and connects again by itself. */
export async function connectRedis(url: string, log: FastifyBaseLogger): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT,
  })
  redis.on('error', (err: Error) => log.warn({ err }, 'Redis is not available'))
  // The server starts without Redis, too: pages are rendered each time until it is there.
  await redis.connect().catch(() => undefined)
  return redis
}
