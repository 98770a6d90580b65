import type { CallFailure } from '../failure-reasons.ts'
import type { JsonBody } from './json-body.ts'

/** Items of a call with `forEach` that have no response. */
interface MissingItems {
  readonly count: number
  /** Number of all items. */
  readonly of: number
  /** Why the first of them failed. */
  readonly failure: CallFailure
}

/** How a call ended, or that it was not made because of its condition. */
export type CallOutcome =
  | { readonly body: JsonBody; readonly missing?: MissingItems }
  | { readonly failure: CallFailure }
  | { readonly isSkipped: true }

export const SKIPPED: CallOutcome = { isSkipped: true }
