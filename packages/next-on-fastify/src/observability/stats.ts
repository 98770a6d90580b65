import type { ResponseCacheStats } from '../response-cache/cache-counters.ts'
import type { RouterBypassStats } from '../router-bypass/router-bypass.ts'

/** Statistics of a Next app since its start. */
export interface NextStats {
  /** Statistics of the response cache. Undefined if it is off. */
  readonly responseCache: ResponseCacheStats | undefined
  /** Statistics of the router bypass. Undefined if it is off. */
  readonly routerBypass: RouterBypassStats | undefined
}
