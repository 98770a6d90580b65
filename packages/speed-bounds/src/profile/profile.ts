/** Self time of a function. */
export interface FunctionTime {
  readonly function: string
  /** The module: `node:http`, a file of a package, or a file of the subject. Empty for the engine. */
  readonly file: string
  /** Microseconds per request. */
  readonly self: number
}

/** A call of a flame graph. */
export interface Call {
  readonly function: string
  readonly file: string
  /** Microseconds per request, with all that it called. */
  readonly total: number
  readonly children: readonly Call[]
}

/** A CPU profile of one process of a subject, in a round that does not count. */
export interface Profile {
  readonly subject: string
  readonly case: string
  readonly responses: number
  /** By self time, in descending order. Those below 0.1 % are missing. */
  readonly functions: readonly FunctionTime[]
  /** The call tree without idle time and without calls below 0.3 %. */
  readonly tree: Call
}
