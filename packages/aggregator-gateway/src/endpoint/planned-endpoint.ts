import type { FastifyRequest } from 'fastify'
import type { PlannedCall } from '../call/planned-call.ts'
import type { Instrumentation } from '../observability/observers.ts'
import type { Compose } from './compose.ts'

/** An endpoint, ready to serve requests. */
export interface PlannedEndpoint {
  readonly calls: readonly PlannedCall[]
  readonly indexOf: ReadonlyMap<string, number>
  /** Deadline for the whole request, in ms. */
  readonly timeout: number
  readonly compose: Compose | undefined
  readonly composeValues: ((values: Record<string, unknown>, request: FastifyRequest) => unknown) | undefined
  readonly hasOptional: boolean
  /** All calls are optional, but at least one must succeed. */
  readonly needsAny: boolean
  /**
   * For the admission check, per upstream: one required call without dependencies, and how many there are. Calls that a
   * cache may serve do not count.
   */
  readonly admission: readonly { readonly call: PlannedCall; readonly calls: number }[]
  /** Adds a `server-timing` header with the duration of each call. */
  readonly hasServerTiming: boolean
  readonly instrumentation: Instrumentation | undefined
}
