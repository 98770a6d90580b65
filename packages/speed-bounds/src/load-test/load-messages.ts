// Messages between `load()` and the process of its generator.

import type { RepeatedRequest } from '../connection/connection.ts'
import type { RatePlan } from './arrivals.ts'
import type { UserPlan } from './run-users.ts'
import type { TallyRecord } from './tally.ts'

/** What all jobs of a generator have in common. */
export interface LoadTarget {
  readonly request: RepeatedRequest
  /** The right status. Without it, any 2xx. */
  readonly status: number | undefined
  /** Maximum open connections of a rate. */
  readonly connections: number
  /** Milliseconds from the intended time of a request until it has failed. */
  readonly requestTimeout: number
}

/** To the generator: its target first, then one job after the other. */
export type LoadCommand =
  | { readonly target: LoadTarget }
  | { readonly id: number; readonly rate: RatePlan }
  | { readonly id: number; readonly users: UserPlan }

/** Measurements of a job. A rate has one phase, users have one for each stage. */
export interface JobRecord {
  readonly phases: readonly PhaseRecord[]
}

/** Measurements of a phase, from the generator. */
export interface PhaseRecord extends TallyRecord {
  /** Milliseconds until the next phase, or until all requests have ended. */
  readonly elapsed: number
  /** Milliseconds in which the responses came. The wait for a request that times out is no part of it. */
  readonly span: number
  /** Milliseconds in which the generator had work. */
  readonly busy: number
  /** Maximum open connections. */
  readonly connections: number
}

/** From the generator. */
export type LoadMessage = { readonly id: number } & (
  | { readonly begun: number }
  | { readonly done: JobRecord }
  | { readonly error: string }
)
