// Rate limits are those of `@fastify/rate-limit`. This checks that it is registered.

import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { invalidOptionError } from '../options/invalid-option.ts'

/**
 * Rejects a limit without effect, which would be noticed under load only.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION for a limit in an app that has no `@fastify/rate-limit`
 */
export function assertRateLimit({ config }: RouteShorthandOptions, where: string, app: FastifyInstance): void {
  const { rateLimit } = (config ?? {}) as { rateLimit?: unknown }
  if (!rateLimit || app.hasDecorator('rateLimit')) return
  const expected = '@fastify/rate-limit to be registered before the gateway, with `global: false`'
  throw invalidOptionError(`${where}.config.rateLimit`, expected, rateLimit)
}
