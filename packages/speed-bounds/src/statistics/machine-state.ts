// The state of the machine in each stage and cycle, which is common to the processes of both subjects.

import { costOf, type Round } from './measured-round.ts'
import { type NormalizedRound, relativeCost } from './normalized-round.ts'
import { median } from './samples.ts'

/** Passes after which the states of cycles hardly change. */
const PASSES = 4

/** Normalizes the CPU of each round by the state of the machine. A stage without rounds of one subject tells no ratio. */
export function normalizeByMachine(rounds: readonly Round[], contender: string, over: string): NormalizedRound[] {
  return [...Map.groupBy(rounds, ({ stage }) => stage).values()].flatMap((stage) => {
    const costs = [contender, over].map((name) =>
      stage.filter(({ subject }) => subject === name).map((round) => Math.log(costOf(round, 'cpu'))),
    )
    if (costs.some((costsOfOne) => costsOfOne.length === 0)) return []
    const baseline = (median(costs[0]!) + median(costs[1]!)) / 2
    return withCycleStates(stage.map((round) => ({ round, baseline })))
  })
}

/**
 * Adds the state of its cycle to the baseline of each round: the mean deviation of the cycle's rounds from the levels of
 * their processes. Each depends on the other, so both are computed in turn. Few rounds tell little, so a state is shrunk as
 * if one more round had shown none.
 */
function withCycleStates(normalized: readonly NormalizedRound[]): NormalizedRound[] {
  const costs = normalized.map((one) => relativeCost(one, 'cpu'))
  const processes = normalized.map(({ round }) => `${round.subject}\n${round.replica}`)
  const cycles = normalized.map(({ round }) => round.cycle)
  let states = costs.map(() => 0)
  for (let pass = 0; pass < PASSES; pass++) {
    const levels = groupMeans(differences(costs, states), processes)
    states = groupMeans(differences(costs, levels), cycles, 1)
  }
  return normalized.map(({ round, baseline }, index) => ({ round, baseline: baseline + states[index]! }))
}

function differences(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, index) => value - b[index]!)
}

/** For each value, the mean of those with the same key and of `zeros` zeros. */
function groupMeans(values: readonly number[], keys: readonly (string | number)[], zeros = 0): number[] {
  const groups = Map.groupBy(values.keys(), (index) => keys[index]!)
  const means = new Map(
    [...groups].map(([key, own]) => [key, own.reduce((sum, index) => sum + values[index]!, 0) / (own.length + zeros)]),
  )
  return keys.map((key) => means.get(key)!)
}
