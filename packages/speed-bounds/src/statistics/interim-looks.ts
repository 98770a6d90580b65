/**
 * The data is looked at after each stage, and once more after the first cycle of the first stage: a clear claim is
 * decided there. Successive heats have no look within a stage, because a cycle ends with its stage.
 */
export function isLook(stage: number, cycle: number, cycles: number): boolean {
  return cycle === cycles || (stage === 1 && cycle === 1)
}

/** Maximum number of looks of a claim. */
export function maxLooks(stages: number): number {
  return stages + 1
}
