import type { PlannedCondition } from '../request/condition.ts'
import type { ItemList } from '../request/item-list.ts'
import type { PathTemplate } from '../request/path-template.ts'
import type { HeaderPlan } from '../request/request-headers.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { HedgeDelay } from './hedge-delay.ts'
import type { JsonBodyReader } from './json-body.ts'
import type { Shadow } from './shadow.ts'

/** A call of an endpoint, ready to be made. */
export interface PlannedCall {
  readonly name: string
  readonly upstream: Upstream
  readonly method: string
  /** It may be sent twice (RFC 9110, 9.2.2). */
  readonly isIdempotent: boolean
  readonly path: PathTemplate
  /** It is made for each item of this list. */
  readonly items: ItemList | undefined
  /** It is made only if these conditions hold. */
  readonly condition: PlannedCondition | undefined
  readonly headers: HeaderPlan
  /** Names of the client's query parameters that are forwarded. */
  readonly forwardQuery: readonly string[]
  /** The client's body is forwarded. */
  readonly forwardsBody: boolean
  readonly isOptional: boolean
  /** Milliseconds; undefined where the endpoint's deadline is enough. */
  readonly timeout: number | undefined
  readonly retries: number
  readonly hedge: HedgeDelay | undefined
  readonly shadow: Shadow | undefined
  /** Statuses of the upstream that the client gets. */
  readonly forwardStatuses: readonly number[]
  readonly reader: JsonBodyReader
  /** Indices of the calls that wait for it. */
  readonly dependents: readonly number[]
  /** Indices of the calls whose values are in its path or are its list. */
  readonly needs: readonly number[]
  /** Number of calls that it waits for, also those of its condition. */
  readonly waitsFor: number
}
