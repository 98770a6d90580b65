import type { CallFailure } from '../call-failures.ts'
import type { JsonBody } from './json-body.ts'

/** How a call ended. */
export type CallOutcome = { readonly body: JsonBody } | { readonly failure: CallFailure }
