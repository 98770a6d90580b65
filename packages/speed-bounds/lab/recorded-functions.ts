/** One process of the function twice: microseconds of CPU per call, calls per second, and CPU of other programs in cores. */
export type RecordedHeat = readonly [RecordedProcess, RecordedProcess]
type RecordedProcess = readonly [cpu: number, throughput: number, foreignCpu: number]

/** A race of a function against itself. */
export interface RecordedRace {
  readonly group: string
  readonly heats: readonly RecordedHeat[]
}
