/** What a race is doing, sent to `onProgress`. Times are in milliseconds. */
export interface Progress {
  phase: 'starting' | 'comparing' | 'warming' | 'measuring'
  /** Which subject is at work. */
  subject: string
  /** Stage of the race: each starts fresh processes. The first is 1. */
  stage: number
  /** Steps of this phase that are done, and how many there are. */
  done: number
  total: number
  /** Time since the race began. */
  elapsed: number
  /** Time that this stage still needs, as far as can be told. */
  remaining: number
}
