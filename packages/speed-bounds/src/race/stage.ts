import { availableParallelism } from 'node:os'
import { checkAnswers, type RightAnswers } from '../subject/compare-responses.ts'
import type { Generator } from '../load/generator.ts'
import type { ResolvedCase, ResolvedLoad, ResolvedRace, ResolvedSubject } from '../options/resolve.ts'
import type { Progress } from '../report/progress-line.ts'
import type { Round } from '../statistics/round.ts'
import { heatsOf, isLook, type Shuffle } from './schedule.ts'
import type { RunningSubject, Warden } from '../subject/subject.ts'
import { fire, leadOf, measureHeat, refuseFailures, type Replica } from './measurement.ts'

/** The parts of a race that a stage needs. */
export interface StageContext {
  readonly race: ResolvedRace
  readonly subjects: readonly ResolvedSubject[]
  readonly cases: readonly ResolvedCase[]
  readonly stage: number
  readonly warden: Warden
  readonly generator: Generator
  readonly right: RightAnswers
  readonly shuffle: Shuffle
  /** Ends the stage without waiting for running work. */
  readonly signal: AbortSignal
  /** Called after each round. */
  readonly onRound: (round: Round) => void
  /** Called at each interim look at the data; true ends the stage. */
  readonly onLook: () => boolean
  readonly onProgress: (progress: Omit<Progress, 'elapsed'>) => void
}

/**
 * A process is warm when its rounds of `ROUND` ms have not become cheaper by 3 % for `STEADY` ms and stayed within 15 %
 * of the cheapest, but not before `leastWarmUp` ms of load (a third of it for later cases). Shorter warm-ups double the
 * cost of some processes. See docs/measurements.md#warm-up
 */
const WARM = { ROUND: 100, STEADY: 200, GAIN: 0.97, NEAR: 1.15 }
/** wrk counts whole seconds. */
const WRK_ROUND = 1000
/** Usual milliseconds of a start, and of a warm-up, round and turn beyond their load. Only for the remaining time. */
const USUAL = { warmer: 600, round: 125, start: 170, turn: 25 }

/** Starts fresh processes of each subject, and warms and visits them in random order, cycle by cycle. */
export async function runStage(context: StageContext): Promise<void> {
  const { race, stage } = context
  const first = (stage - 1) * race.replicas + 1
  const numbers = Array.from({ length: race.replicas }, (_, index) => first + index)
  const tell = teller(context)
  if (race.heats === 'interleaved') return runTogether(context, numbers, 1, tell)
  for (const [index, number] of numbers.entries()) await runTogether(context, [number], index + 1, tell)
  context.onLook()
}

type Tell = (phase: Progress['phase'], subject: ResolvedSubject) => void

/** Reports the start of each step, and the remaining time. */
function teller({ race, subjects, cases, stage, onProgress }: StageContext): Tell {
  const processes = race.replicas * subjects.length
  const rounds = race.cycles * processes * cases.length
  const begun = { starting: 0, comparing: 0, warming: 0, measuring: 0 }
  return (phase, { name }) => {
    const starts = (processes - begun.starting) * USUAL.start
    const remaining = starts + timeFor(race, cases.length, processes - begun.warming, rounds - begun.measuring)
    const total = phase === 'measuring' ? rounds : processes
    onProgress({ phase, subject: name, stage, done: begun[phase]++, total, remaining })
  }
}

/** Runs the processes with these numbers of each subject at the same time, through all cycles. */
async function runTogether(
  context: StageContext,
  numbers: readonly number[],
  firstHeat: number,
  tell: Tell,
): Promise<void> {
  const { race, subjects, cases, stage, signal } = context
  const replicas = await startReplicas(context, numbers, tell)
  try {
    for (const { run } of replicas) {
      tell('comparing', run.subject)
      await checkAnswers(run, cases, context.right, { ...race.load, signal })
    }
    const bySubject = subjects.map((subject) => replicas.filter(({ run }) => run.subject === subject))
    // First visits follow the order of warm-up, so that all have waited equally. Otherwise the subject warmed first has
    // lost optimized code, and a subject was judged 0.81 times as good as itself. See docs/measurements.md#warm-up
    let heats = heatsOf(bySubject, context.shuffle)
    // Processes that wait for no longer than a turn are warmed in turns, too.
    const warmedByTurns = race.heats === 'successive' ? heats : heats.flat().map((replica) => [replica])
    for (const group of warmedByTurns) await warm(context, group, tell)
    const onVisit = ({ subject }: RunningSubject): void => tell('measuring', subject)
    for (let cycle = 1; cycle <= race.cycles; cycle++) {
      for (const kase of context.shuffle(cases)) {
        for (const [index, heat] of heats.entries())
          await measureHeat(context, heat, { kase, cycle, heat: firstHeat + index, onVisit })
        heats = heatsOf(bySubject, context.shuffle)
      }
      // A process that died after its last visit would go unnoticed.
      const dead = replicas.find(({ run }) => run.died.aborted)
      if (dead) throw dead.run.died.reason
      if (race.heats === 'interleaved' && isLook(stage, cycle, race.cycles) && context.onLook()) break
    }
  } finally {
    await Promise.all(replicas.map(({ run }) => run.stop()))
  }
}

/** Milliseconds for this many warm-ups and measured rounds. */
function timeFor(
  { load, turn, warmUp, leastWarmUp }: ResolvedRace,
  cases: number,
  warmUps: number,
  rounds: number,
): number {
  const least = Math.min(warmUp, leastWarmUp)
  const perProcess = least + USUAL.warmer + (cases - 1) * (least / 3 + USUAL.warmer / 3)
  const turns = turn < load.duration ? Math.ceil(load.duration / turn) * USUAL.turn : 0
  return warmUps * perProcess + rounds * (roundLength(load) + USUAL.round + turns)
}

/** Usual milliseconds of a whole stage with this many subjects and cases. */
export function usualStageTime(race: ResolvedRace, subjects: number, cases: number): number {
  const replicas = race.replicas * subjects
  const rounds = race.cycles * replicas * cases
  return (replicas * USUAL.start) / availableParallelism() + timeFor(race, cases, replicas, rounds)
}

function roundLength(load: ResolvedLoad): number {
  const { generator, duration } = load
  return leadOf(load) + (generator === 'wrk' ? Math.ceil(duration / WRK_ROUND) * WRK_ROUND : duration)
}

/** Starts one process per core at a time: more would only delay each of them. */
async function startReplicas(
  { race, subjects, warden, signal }: StageContext,
  numbers: readonly number[],
  tell: Tell,
): Promise<Replica[]> {
  const queue = subjects.flatMap((subject) => numbers.map((number) => ({ subject, number })))
  const started: Replica[] = []
  const startNext = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      tell('starting', next.subject)
      try {
        started.push({ run: await warden.start(next.subject, { ...race, signal }), number: next.number })
      } catch (error) {
        // Starting the others would be useless.
        queue.length = 0
        throw error
      }
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: availableParallelism() }, startNext))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (!failed) return started
  await Promise.all(started.map(({ run }) => run.stop()))
  throw failed.reason
}

/** Warms processes in turns of one round, until all are warm. */
async function warm(context: StageContext, group: readonly Replica[], tell: Tell): Promise<void> {
  let cold = group.map(({ run }) => ({ run, rounds: warmUpOf(context, run) }))
  for (const { run } of cold) tell('warming', run.subject)
  while (cold.length > 0) {
    const left: typeof cold = []
    for (const warmUp of cold) {
      if (group.length > 1) await warmUp.run.resume()
      const { done } = await warmUp.rounds.next()
      if (!done) left.push(warmUp)
      if (context.race.idle === 'paused' && (done || cold.length > 1)) await warmUp.run.pause()
    }
    cold = left
  }
}

/**
 * Loads a process until its CPU per response stops falling, and yields after each round. Cold code costs two to three
 * times as much. See docs/measurements.md#warm-up
 */
async function* warmUpOf(context: StageContext, run: RunningSubject): AsyncGenerator<void, void> {
  const { race, cases } = context
  const longest = Math.max(race.load.duration, race.warmUp)
  let length = race.load.generator === 'wrk' ? WRK_ROUND : WARM.ROUND
  for (const [index, kase] of cases.entries()) {
    const least = index === 0 ? race.leastWarmUp : race.leastWarmUp / 3
    let best = Number.POSITIVE_INFINITY
    let steady = 0
    for (let time = 0; time < longest && (time < least || steady < WARM.STEADY);) {
      const load: ResolvedLoad = { ...race.load, duration: Math.min(length, longest), amount: undefined }
      const { cpu, result } = await fire(context, run, kase, load)
      const { answers, failures, elapsed } = result
      // A slow server makes a round longer.
      time += Math.max(length, elapsed)
      // A slow server needs longer rounds: until each connection had a response, a round says nothing.
      if (answers < load.connections && length < longest) {
        length *= 2
        continue
      }
      // A cold server may take a whole warm-up round to accept the last connection.
      const hanging = answers === 0 ? failures.hanging : 0
      refuseFailures(run, kase, { ...result, failures: { ...failures, hanging } })
      steady = cpu < best * WARM.GAIN || cpu > best * WARM.NEAR ? 0 : steady + elapsed
      if (cpu < best * WARM.GAIN) best = cpu
      yield
    }
  }
}
