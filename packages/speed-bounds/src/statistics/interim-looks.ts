/** Processes of each subject that the first cycles of a race measure. The others start after their looks. */
const FIRST_PROCESSES = 2

/** Cycles of a race that measure only the first processes. With fewer, a single round could decide. */
export const FIRST_CYCLES = 2

/** Processes of each subject and cycles of a stage. */
interface Stage {
  readonly replicas: number
  readonly cycles: number
}

/** Number of processes of each subject that a cycle measures. A stage with as few cycles as a first look has no such look. */
export function processesIn(stage: number, cycle: number, { replicas, cycles }: Stage): number {
  return stage === 1 && cycle <= FIRST_CYCLES && cycles > FIRST_CYCLES ? Math.min(FIRST_PROCESSES, replicas) : replicas
}

/** Whether the first processes have had their cycles. A clear claim is decided with them. */
export function isFirstLook(stage: number, cycle: number, cycles: number): boolean {
  return stage === 1 && cycle === FIRST_CYCLES && cycles > FIRST_CYCLES
}

/** Whether the data is looked at after this cycle: a first look, or the end of a stage. Successive heats have only the latter. */
export function isLook(stage: number, cycle: number, cycles: number): boolean {
  return cycle === cycles || isFirstLook(stage, cycle, cycles)
}
