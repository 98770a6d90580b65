import { readFileSync } from 'node:fs'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import type { RecordedHeat, RecordedRace } from '../../lab/recorded-functions.ts'
import { looksOf } from '../../src/functions/looks.ts'
import { functionRaceSchema } from '../../src/options/function-options.ts'
import { check } from '../../src/options/check.ts'
import type { Claim } from '../../src/options/resolved.ts'
import type { Round } from '../../src/statistics/measured-round.ts'
import { judge, type Verdict } from '../../src/statistics/verdict.ts'
import { syntheticRound } from './synthetic-race.ts'

/** Races of functions against themselves, recorded on one machine. */
export function recordingOf(name: string): RecordedRace[] {
  const file = new URL(`../../lab/recordings/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as RecordedRace[]
}

/** How processes are drawn: each by itself, or whole heats in their order, so that a drift of the machine stays. */
export type Draw = 'processes' | 'heats'

const { alpha, maxForeignCpu, replicas } = check(functionRaceSchema, {})

/** The verdict of a race with recorded processes, of which those of `b` cost `factor` times as much. */
export function resampledRace(
  races: readonly RecordedRace[],
  { draw, factor, seed, heats }: { draw: Draw; factor: number; seed: number; heats: number },
): Verdict {
  const generator = xoroshiro128plus(seed)
  const upTo = (last: number): number => uniformInt(generator, 0, last)
  const looks = looksOf(replicas)
  const claim: Claim = {
    ...{ contender: 'a', over: 'b', atLeast: 1, case: 'functions', metrics: ['cpu', 'throughput'], alpha },
    ...{ budget: 30_000, unit: 'call' },
  }
  const { heats: recorded } = races[upTo(races.length - 1)]!
  const start = upTo(recorded.length - 1)
  const rounds: Round[] = []
  for (let number = 1; number <= heats; number++) {
    const next = recorded[(start + number) % recorded.length]!
    const drawn = draw === 'heats' ? next : anyTwo(recorded, upTo)
    const [a, b] = upTo(1) === 0 ? drawn : [drawn[1], drawn[0]]
    rounds.push(roundOf('a', number, a, 1), roundOf('b', number, b, factor))
    // The budget ends with a look, too.
    if (!looks.includes(number) && number < heats) continue
    const { verdict } = judge(claim, rounds, alpha / looks.length)
    if (verdict !== 'inconclusive') return verdict
  }
  return 'inconclusive'
}

function anyTwo(recorded: readonly RecordedHeat[], upTo: (last: number) => number): RecordedHeat {
  const processes = recorded.flat()
  return [processes[upTo(processes.length - 1)]!, processes[upTo(processes.length - 1)]!]
}

function roundOf(subject: string, heat: number, recorded: RecordedHeat[0], factor: number): Round {
  const [cpu, throughput, foreignCpu] = recorded
  return syntheticRound({
    ...{ subject, heat, replica: heat, case: 'functions', elapsed: 250, responses: (throughput / factor) * 0.25 },
    ...{ cpu: cpu * factor, throughput: throughput / factor, foreignCpu },
    ...(foreignCpu > maxForeignCpu ? { discarded: 'foreign-cpu' as const } : {}),
  })
}
