// The decorator `app.gatewayStats()`: the status of each gateway of an app, by its prefix.

import type { FastifyInstance } from 'fastify'
import type { GatewayStatus } from './options/observer.ts'

type Readers = Map<string, (() => GatewayStatus)[]>

/** A symbol of the process, because an app may have two copies of this package. */
const READERS: unique symbol = Symbol.for('aggregator-gateway.stats')

/** Adds the decorator, which a parent may have already. */
export function decorateStats(app: FastifyInstance): void {
  if (app.hasDecorator('gatewayStats')) return
  const readers: Readers = new Map()
  app.decorate(READERS, readers)
  app.decorate('gatewayStats', (prefix = '') => {
    const own = readers.get(prefix)
    return own && { upstreams: Object.assign({}, ...own.map((read) => read().upstreams)) as GatewayStatus['upstreams'] }
  })
}

/** Adds a gateway. Gateways with the same prefix share their stats. */
export function addStats(app: FastifyInstance, read: () => GatewayStatus): void {
  const readers = (app as unknown as Record<typeof READERS, Readers>)[READERS]
  readers.set(app.prefix, [...(readers.get(app.prefix) ?? []), read])
}
