import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { isFirstLook, isLook, processesIn } from '../../src/statistics/interim-looks.ts'
import type { Claim } from '../../src/options/resolved.ts'
import type { Round } from '../../src/statistics/measured-round.ts'
import { heatsOf, shuffler } from '../../src/race/schedule.ts'
import { Looks } from '../../src/statistics/looks.ts'
import type { Decision } from '../../src/statistics/verdict.ts'

/** Random numbers from a seed. */
export interface Chance {
  uniform(): number
  normal(): number
}

function chanceOf(seed: number): Chance {
  const generator = xoroshiro128plus(seed)
  const uniform = (): number => uniformFloat64(generator)
  return {
    uniform,
    // Box and Muller
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  }
}

/** How the processes of both subjects differ from each other, and their rounds from them: logs of factors. */
export interface Machine {
  process(chance: Chance): number
  round(chance: Chance): number
  /** Common noise of a cycle. */
  cycle(chance: Chance): number
  /** Common noise of alternating processes. Without turns, each round has its own. */
  heat?(chance: Chance): number
  /** Share of the rounds that a hypervisor gives to others but for a moment: few responses, at any price. */
  readonly starved?: number
  /** CPU of other programs in each round, in cores. */
  readonly foreignCpu?: number
}

/** The default of `maxForeignCpu`. */
const MAX_FOREIGN_CPU = 1

/** Log spread of the generator's CPU that is not the machine's. */
const GENERATOR_NOISE = 0.03

const STARVED = { time: 0.07, spread: 1.2 }

/** The shape of real data: `race`'s defaults, with rounds that are longer than a turn. */
export const METHOD = { replicas: 5, cycles: 8, stages: 3, inTurns: true, successive: false }

export function syntheticRound(values: Partial<Round>): Round {
  return {
    ...{ stage: 1, cycle: 1, subject: 'a', replica: 1, case: 'GET /', responses: 1000, failures: 0, elapsed: 200 },
    ...{ cpu: 20, throughput: 5000, p50: 1, p90: 2, p99: 3, rss: 1e8, peakRss: 1.2e8 },
    ...{
      serverUtilization: 1,
      generatorUtilization: 0.5,
      generatorCpu: 15,
      foreignCpu: 0,
      bottleneck: 'server' as const,
    },
    ...values,
  }
}

function disturbedBy(foreignCpu: number): Partial<Round> {
  return foreignCpu > MAX_FOREIGN_CPU ? { foreignCpu, discarded: 'foreign-cpu' } : { foreignCpu }
}

/** Rounds of one stage, `b` costing `factor` times as much as `a`. */
function* syntheticStage(
  machine: Machine,
  factor: number,
  stage: number,
  chance: Chance,
  method: typeof METHOD = METHOD,
): Generator<Round[]> {
  const processes = ['a', 'b'].map((subject) =>
    Array.from({ length: method.replicas }, (_, index) => ({
      subject,
      replica: (stage - 1) * method.replicas + index + 1,
      level: machine.process(chance) + (subject === 'b' ? Math.log(factor) : 0),
    })),
  )
  const shuffle = shuffler(Math.floor(chance.uniform() * 2 ** 31))
  const heats = heatsOf(processes, shuffle)
  // Successive heats: all rounds of a heat share the noise of that time.
  const times = heats.map(() => machine.cycle(chance))
  for (let cycle = 1; cycle <= method.cycles; cycle++) {
    const ofCycle = machine.cycle(chance)
    const measured = processes.map((all) => all.slice(0, processesIn(stage, cycle, method)))
    yield (method.successive ? heats : heatsOf(measured, shuffle)).flatMap((heat, index) => {
      const common = method.successive ? times[index]! : ofCycle
      const shared = machine.heat?.(chance) ?? 0
      return heat.map(({ subject, replica, level }) => {
        const starved = machine.starved !== undefined && chance.uniform() < machine.starved
        const time = starved ? STARVED.time : 1
        const state = method.inTurns ? shared : (machine.heat?.(chance) ?? 0)
        const noise = common + state + machine.round(chance) + (starved ? STARVED.spread * chance.normal() : 0)
        const cost = Math.exp(level + noise)
        // The generator meets most of the noise, and some of its own.
        const ofGenerator = 0.7 * noise + GENERATOR_NOISE * chance.normal()
        return syntheticRound({
          ...(machine.foreignCpu === undefined ? {} : disturbedBy(machine.foreignCpu)),
          // The server is busy all the time that it gets.
          responses: Math.max(1, Math.round((1000 * time) / cost)),
          stage,
          cycle,
          ...(method.inTurns ? { heat: index + 1 } : {}),
          subject,
          replica,
          cpu: 20 * cost,
          generatorCpu: 15 * Math.exp(ofGenerator),
          throughput: (time * 50_000) / (cost * Math.exp(machine.round(chance))),
        })
      })
    })
  }
}

/** A whole race on synthetic data, with the looks and the early stopping of a real one. */
export function syntheticRace(
  machine: Machine,
  factor: number,
  claim: Claim,
  seed: number,
  method: typeof METHOD = METHOD,
): Decision & { taken: number } {
  const chance = chanceOf(seed)
  const rounds: Round[] = []
  const looks = new Looks(claim, () => rounds)
  let decision = looks.at(0)
  let taken = 0
  for (let stage = 1; stage <= method.stages; stage++) {
    let cycle = 0
    for (const cycleRounds of syntheticStage(machine, factor, stage, chance, method)) {
      rounds.push(...cycleRounds)
      if (!isLook(stage, ++cycle, method.cycles) || (method.successive && cycle < method.cycles)) continue
      taken++
      decision =
        !method.successive && isFirstLook(stage, cycle, method.cycles) ? looks.first() : looks.at(stage / method.stages)
      if (decision.verdict !== 'inconclusive') return { ...decision, taken }
    }
  }
  return { ...decision, taken }
}
