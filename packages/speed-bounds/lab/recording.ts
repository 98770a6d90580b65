// Rounds of identical processes, as a race recorded them.

import { readFileSync } from 'node:fs'
import type { Round } from '../src/index.ts'

/** The values of a round that a decision needs. */
export type RecordedRound = Pick<Round, 'responses' | 'elapsed' | 'cpu' | 'generatorCpu' | 'foreignCpu' | 'stolenCpu'>

/** One stage: the rounds of each of its processes, in order. */
export type Recording = readonly (readonly RecordedRound[])[]

export function recordingOf(rounds: readonly Round[]): Recording {
  const processes = Map.groupBy(rounds, ({ subject, replica }) => `${subject}\n${replica}`)
  return [...processes.values()].map((own) =>
    own.map(({ responses, elapsed, cpu, generatorCpu, foreignCpu, stolenCpu = 0 }) => ({
      responses,
      elapsed: rounded(elapsed),
      cpu: rounded(cpu),
      generatorCpu: rounded(generatorCpu),
      foreignCpu: rounded(foreignCpu),
      stolenCpu: rounded(stolenCpu),
    })),
  )
}

export function readRecordings(files: readonly string[]): Recording[] {
  return files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as Recording[])
}

function rounded(value: number): number {
  return Number(value.toPrecision(5))
}
