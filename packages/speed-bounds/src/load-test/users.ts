/** Virtual users. Their number changes linearly from that of the stage before, or from 0, to this one. */
export interface UserStage {
  /** Users at the end of the stage. */
  readonly users: number
  /** Length of the stage in milliseconds. With 0, the number changes at once. */
  readonly duration: number
}

/** The stage and its users at a time in milliseconds, or undefined after the last stage. */
export function usersAt(
  stages: readonly UserStage[],
  time: number,
): { readonly users: number; readonly stage: number } | undefined {
  let from = 0
  let start = 0
  for (const [stage, { users, duration }] of stages.entries()) {
    if (time < start + duration) return { users: from + ((users - from) * (time - start)) / duration, stage }
    from = users
    start += duration
  }
  return undefined
}
