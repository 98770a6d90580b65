import type { GatewayStatus } from '../options/observer.ts'
import type { Upstream } from './upstream.ts'

/** Returns a function that reads the current status of all upstreams. */
export function statusOf(upstreams: ReadonlyMap<string, Upstream>): () => GatewayStatus {
  return () => ({
    upstreams: Object.fromEntries([...upstreams].map(([name, upstream]) => [name, upstream.status()])),
  })
}
