import type { HeatOrder } from '../options/types.ts'

/** Processes of each subject that the first cycles of a race measure. The others start after their looks. */
const FIRST_PROCESSES = 2

/** Cycles of a race that measure only the first processes. */
export const FIRST_CYCLES = 2

/** Number of processes of each subject that a cycle measures. */
export function processesIn(stage: number, cycle: number, replicas: number): number {
  return stage === 1 && cycle <= FIRST_CYCLES ? Math.min(FIRST_PROCESSES, replicas) : replicas
}

/**
 * The data is looked at after each stage, and after the first cycles of a race: a clear claim is decided with the first
 * processes of each subject, or by one round of all. Successive heats have no look within a stage, because a cycle ends
 * with its stage.
 */
export function isLook(stage: number, cycle: number, cycles: number): boolean {
  return cycle === cycles || (stage === 1 && cycle <= FIRST_CYCLES + 1)
}

/** Maximum number of looks of a claim with which a race begins. */
export function maxLooks({ stages, heats }: { readonly stages: number; readonly heats: HeatOrder }): number {
  return heats === 'successive' ? stages : stages + FIRST_CYCLES + 1
}
