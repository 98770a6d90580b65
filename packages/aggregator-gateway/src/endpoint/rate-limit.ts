// Rate limits are those of `@fastify/rate-limit`. This checks that it is registered.

import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { InvalidOptionError } from '../errors.ts'

/**
 * Rejects a limit without effect, which would be noticed under load only.
 *
 * @throws GATEWAY_INVALID_OPTION for a limit in an app that has no `@fastify/rate-limit`
 */
export function assertRateLimit({ config }: RouteShorthandOptions, where: string, app: FastifyInstance): void {
  const { rateLimit } = (config ?? {}) as { rateLimit?: unknown }
  if (!rateLimit || app.hasDecorator('rateLimit')) return
  throw new InvalidOptionError(
    `Expected \`${where}.config.rateLimit\` to be of an app with @fastify/rate-limit, got one without: register it before the gateway, by \`await app.register(rateLimit, { global: false })\``,
  )
}
