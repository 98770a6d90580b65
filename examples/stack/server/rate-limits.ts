import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import type { Redis } from 'ioredis'

/** Limits the requests of each client, over all workers and hosts with the same Redis. Files of the build are free. */
export async function limitRequests(app: FastifyInstance, max: number, redis: Redis | undefined): Promise<void> {
  await app.register(rateLimit, {
    max,
    timeWindow: '1 minute',
    allowList: ({ url }) => isFile(url) || url === '/health',
    nameSpace: 'rate-limit:',
    // Without Redis, each worker counts by itself. If Redis fails, requests pass.
    skipOnError: true,
    ...(redis && { redis }),
  })
}

/** Next resolves dots, so that `/_next/static/../../catalog` is a page. */
function isFile(url: string): boolean {
  const folder = '/_next/static/'
  return url.startsWith(folder) && new URL(`http://localhost${url}`).pathname.startsWith(folder)
}
