// Draws races from recorded rounds, and decides them as a real race does: how often is the verdict right, and at which look?

import { resolveClaim } from '../src/options/resolve-claim.ts'
import { resolveRace } from '../src/options/resolve.ts'
import { isFirstLook, isLook, processesIn } from '../src/statistics/interim-looks.ts'
import { Looks } from '../src/statistics/looks.ts'
import type { Round } from '../src/statistics/measured-round.ts'
import { type RecordedRound, readRecordings, type Recording } from './recording.ts'

const files = process.argv.slice(2)
if (files.length === 0) throw new Error('Usage: node lab/resample.ts <file>...')

const TRIES = 4000
const CYCLES = 8
const REPLICAS = 4
/** Stages that fit into a budget, by its seconds. */
const BUDGETS = { 30: 1, 60: 2 }

const recordings = readRecordings(files)
const options = resolveRace({ a: './a.ts', b: './b.ts' }, { path: '/' })
const claim = resolveClaim(options, 'b', { atLeast: 1, metric: 'cpu' })

const below = (limit: number): number => Math.floor(Math.random() * limit)

/** A recorded round of a subject that costs `factor` times as much. */
function roundOf(
  recorded: RecordedRound,
  place: Pick<Round, 'subject' | 'replica' | 'cycle' | 'stage'>,
  factor: number,
): Round {
  const { responses, elapsed, cpu, generatorCpu, foreignCpu } = recorded
  return {
    ...place,
    case: claim.case,
    responses: Math.round(responses / factor),
    failures: 0,
    elapsed,
    cpu: cpu * factor,
    throughput: ((responses / elapsed) * 1000) / factor,
    ...{ p50: 1, p90: 1, p99: 1, rss: 1, peakRss: 1, serverUtilization: 1, generatorUtilization: 0.5 },
    generatorCpu,
    foreignCpu,
    bottleneck: 'server',
    ...(foreignCpu > options.maxForeignCpu ? { discarded: 'foreign-cpu' as const } : {}),
  }
}

/** The rounds of a stage by cycle: random processes of a recording, at a random time. */
function drawStage(recording: Recording, stage: number, factor: number): Round[][] {
  const processes = recording
    .map((rounds) => ({ rounds, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ rounds }) => rounds)
  const from = below(Math.min(...processes.map(({ length }) => length)) - CYCLES + 1)
  return Array.from({ length: CYCLES }, (_, index) =>
    Array.from({ length: processesIn(stage, index + 1, { replicas: REPLICAS, cycles: CYCLES }) }, (__, process) => {
      const place = { stage, cycle: index + 1, replica: (stage - 1) * REPLICAS + process + 1 }
      return [
        roundOf(processes[process]![from + index]!, { ...place, subject: 'a' }, 1),
        roundOf(processes[REPLICAS + process]![from + index]!, { ...place, subject: 'b' }, factor),
      ]
    }).flat(),
  )
}

function decide(factor: number, stages: number): { verdict: string; look: number } {
  const rounds: Round[] = []
  const looks = new Looks(claim, () => rounds)
  let look = 0
  for (let stage = 1; stage <= stages; stage++) {
    for (const [index, ofCycle] of drawStage(recordings[below(recordings.length)]!, stage, factor).entries()) {
      rounds.push(...ofCycle)
      if (!isLook(stage, index + 1, CYCLES)) continue
      look++
      const { verdict } = isFirstLook(stage, index + 1, CYCLES) ? looks.first() : looks.at(stage / stages)
      if (verdict !== 'inconclusive') return { verdict, look }
    }
  }
  return { verdict: 'inconclusive', look }
}

for (const [seconds, stages] of Object.entries(BUDGETS)) {
  for (const factor of [1, 1.05, 1.1, 1.5, 2]) {
    const races = Array.from({ length: TRIES }, () => decide(factor, stages))
    const share = (count: number): string => `${((100 * count) / TRIES).toFixed(2)} %`
    const held = races.filter(({ verdict }) => verdict === 'holds')
    const early = held.filter(({ look }) => look === 1).length
    const broken = races.filter(({ verdict }) => verdict === 'broken').length
    console.log(
      `${seconds} s, ${factor}x: ${share(held.length)} holds (${share(early)} early), ${share(broken)} broken`,
    )
  }
}
