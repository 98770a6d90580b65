// Which rounds count, and whether the machine disturbed them. Early looks need that check: a single round that got hardly
// any time could decide a claim.

import { FEW } from './error-models.ts'
import { FIRST_CYCLES } from './interim-looks.ts'
import { median } from './samples.ts'
import type { Round } from './measured-round.ts'

/** CPU of others, in cores, above which throughput and latency of few processes prove nothing. */
const MAX_FOREIGN_CPU = 0.25

/** Above this ratio between two processes or rounds of a subject, one of them was hardly measured. */
const MAX_RATIO = 3

/** Rounds that count, and whether only their CPU per response tells something. */
export interface CountedRounds {
  readonly counted: readonly Round[]
  readonly isDisturbed: boolean
}

/**
 * Drops discarded rounds. Where they are most of all, the machine is busy throughout, and no round is better than another:
 * then all count. So they do at an early look, which assumes the spread of a busy machine, and has no round to spare. See
 * docs/measurements.md#busy-machine
 */
export function countRounds(rounds: readonly Round[]): CountedRounds {
  const kept = rounds.filter(({ discarded }) => !discarded)
  const isBusy = kept.length * 2 < rounds.length
  if (areEarly(rounds)) return { counted: rounds, isDisturbed: isBusy || areDisturbed(rounds) }
  return isBusy ? { counted: rounds, isDisturbed: true } : { counted: kept, isDisturbed: false }
}

/** Whether the rounds are those of an early look: a subject has few processes with few rounds. */
function areEarly(rounds: readonly Round[]): boolean {
  return bySubject(rounds).some((own) => {
    const processes = [...Map.groupBy(own, ({ replica }) => replica).values()]
    return processes.length < FEW && processes.every(({ length }) => length <= FIRST_CYCLES)
  })
}

function areDisturbed(rounds: readonly Round[]): boolean {
  if (median(rounds.map(({ foreignCpu }) => foreignCpu)) > MAX_FOREIGN_CPU) return true
  return bySubject(rounds).some((own) => differ(own.map(({ responses }) => responses)))
}

/**
 * Whether the rounds of an early look say too little: a process had much less CPU than another one, or much fewer responses
 * than another one of its subject.
 */
export function areTooUneven(rounds: readonly Round[]): boolean {
  if (!areEarly(rounds)) return false
  const responses = bySubject(rounds).map((own) => sumsOf(own, (round) => round.responses))
  return differ(sumsOf(rounds, ({ cpu, responses: count }) => cpu * count)) || responses.some(differ)
}

/** An amount of each process. */
function sumsOf(rounds: readonly Round[], amountOf: (round: Round) => number): number[] {
  const processes = Map.groupBy(rounds, ({ subject, replica }) => `${subject}\n${replica}`).values()
  return [...processes].map((ofOne) => ofOne.reduce((sum, round) => sum + amountOf(round), 0))
}

function bySubject(rounds: readonly Round[]): Round[][] {
  return [...Map.groupBy(rounds, ({ subject }) => subject).values()]
}

function differ(amounts: readonly number[]): boolean {
  return Math.min(...amounts) < Math.max(...amounts) / MAX_RATIO
}
