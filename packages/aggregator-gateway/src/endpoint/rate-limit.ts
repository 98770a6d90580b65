// Rate limits are `@fastify/rate-limit`'s; here it is only seen to that it is there.

import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { InvalidOptionError } from '../errors.ts'

/**
 * A limit that nobody keeps would be found out under load only.
 *
 * @throws GATEWAY_INVALID_OPTION for a limit in an app that has no `@fastify/rate-limit`
 */
export function demandRateLimit({ config }: RouteShorthandOptions, where: string, app: FastifyInstance): void {
  const { rateLimit } = (config ?? {}) as { rateLimit?: unknown }
  if (!rateLimit || app.hasDecorator('rateLimit')) return
  throw new InvalidOptionError(
    `Expected \`${where}.config.rateLimit\` to be of an app with @fastify/rate-limit, got one without: register it before the gateway, by \`await app.register(rateLimit, { global: false })\``,
  )
}
