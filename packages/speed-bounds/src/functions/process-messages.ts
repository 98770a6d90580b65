import type { ConfigClaim } from '../options/config-types.ts'

/** Where a process finds a function. */
export type FunctionPlace =
  | { readonly type: 'file'; readonly url: string; readonly group: string | undefined; readonly name: string }
  | { readonly type: 'source'; readonly name: string; readonly source: string }

/** To a process: list the functions of a file, or measure one function. Times are in milliseconds. */
export type FunctionJob =
  | { readonly type: 'list'; readonly url: string }
  | {
      readonly type: 'measure'
      readonly place: FunctionPlace
      readonly warmUp: number
      readonly duration: number
    }

/** Names of functions that a file exports, by group. A file without groups has one without a name. */
export interface FunctionGroup {
  readonly group: string | undefined
  readonly names: readonly string[]
}

/** Measurements of a function in one process. */
export interface FunctionMeasurement {
  readonly calls: number
  /** Milliseconds of these calls. */
  readonly elapsed: number
  /** Microseconds of CPU per call, over all threads of the process. */
  readonly cpu: number
  /** Milliseconds of a call. */
  readonly p50: number
  readonly p90: number
  readonly p99: number
  /** Bytes. */
  readonly rss: number
  readonly peakRss: number
  /** CPU of other programs, in cores. */
  readonly foreignCpu: number
  /** The part of `foreignCpu` that other guests of a hypervisor took. */
  readonly stolenCpu: number
}

/** From a process. */
export type FunctionReport =
  | { readonly type: 'listed'; readonly groups: readonly FunctionGroup[]; readonly claims: readonly ConfigClaim[] }
  /** The first call has ended. */
  | { readonly type: 'called' }
  | { readonly type: 'measured'; readonly measurement: FunctionMeasurement }
  /** The file or its exports are wrong. */
  | { readonly type: 'unusable'; readonly message: string }
  /** The function fails, or has nothing to measure. */
  | { readonly type: 'failed'; readonly message: string }
