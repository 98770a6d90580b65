// Draws races from recorded rounds, and decides them as a real race and a comparison do: how often is the verdict right, and
// at which look?

import { caseVerdict, isClear } from '../src/compare/case-verdict.ts'
import { resolveClaim } from '../src/options/resolve-claim.ts'
import { resolveRace } from '../src/options/resolve.ts'
import type { Claim } from '../src/options/resolved.ts'
import { isFirstLook, isLook, processesIn } from '../src/statistics/interim-looks.ts'
import { Looks } from '../src/statistics/looks.ts'
import type { Round } from '../src/statistics/measured-round.ts'
import type { Decision } from '../src/statistics/verdict.ts'
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
const MARGIN = 0.05
/** What `compare` asks, where `b` is the head. */
const notSlower = resolveClaim(options, 'a', { contender: 'b', atLeast: 1 - MARGIN, metric: 'cpu' })

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

/** How a question ends: the verdict, and the look that gave it. */
interface Ending {
  readonly verdict: string
  readonly look: number
}

/** Looks at a race until the answer is clear, or its last stage has ended. */
function ask(question: Claim, factor: number, stages: number, answer: (decision: Decision) => Answer): Ending {
  const rounds: Round[] = []
  const looks = new Looks(question, () => rounds)
  let look = 0
  let verdict = 'inconclusive'
  for (let stage = 1; stage <= stages; stage++) {
    for (const [index, ofCycle] of drawStage(recordings[below(recordings.length)]!, stage, factor).entries()) {
      rounds.push(...ofCycle)
      if (!isLook(stage, index + 1, CYCLES)) continue
      look++
      const decision = isFirstLook(stage, index + 1, CYCLES) ? looks.first() : looks.at(stage / stages)
      const { isFinal, ...answered } = answer(decision)
      verdict = answered.verdict
      if (isFinal) return { verdict, look }
    }
  }
  return { verdict, look }
}

interface Answer {
  readonly verdict: string
  readonly isFinal: boolean
}

/** As a race decides a claim. */
const claimed = ({ verdict }: Decision): Answer => ({ verdict, isFinal: verdict !== 'inconclusive' })

/** As `speed-bounds compare` decides a case. */
const compared = ({ estimates: [estimate] }: Decision): Answer => ({
  verdict: caseVerdict(estimate, MARGIN),
  isFinal: isClear(estimate, MARGIN),
})

function tell(title: string, ending: () => Ending): void {
  const endings = Map.groupBy(
    Array.from({ length: TRIES }, () => ending()),
    ({ verdict }) => verdict,
  )
  const share = (of: readonly Ending[]): string => `${((100 * of.length) / TRIES).toFixed(2)} %`
  const shares = [...endings].map(
    ([verdict, of]) => `${share(of)} ${verdict} (${share(of.filter(({ look }) => look === 1))} early)`,
  )
  console.log(`${title}: ${shares.toSorted().join(', ')}`)
}

for (const [seconds, stages] of Object.entries(BUDGETS)) {
  for (const factor of [1, 1.05, 1.1, 1.5, 2]) {
    tell(`${seconds} s, ${factor}x, claimed`, () => ask(claim, factor, stages, claimed))
    tell(`${seconds} s, ${factor}x, compared`, () => ask(notSlower, factor, stages, compared))
  }
}
