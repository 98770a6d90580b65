import { isFirstLook, isLook, processesIn } from '../statistics/interim-looks.ts'
import { compareResponses } from '../subject/compare-responses.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import { closeConnections } from './connections.ts'
import { measureHeat } from './measure-heat.ts'
import { heatsOf } from './schedule.ts'
import type { Replica, StageContext } from './stage-context.ts'
import { startReplicas } from './start-replicas.ts'
import { type ReportStep, stepReporter } from './step-reporter.ts'
import { warmUp } from './warm-up.ts'

/** Starts fresh processes of each subject, and warms and measures them in random order, cycle by cycle. */
export async function runStage(context: StageContext): Promise<void> {
  const { race, stage } = context
  const first = (stage - 1) * race.replicas + 1
  const numbers = Array.from({ length: race.replicas }, (_, index) => first + index)
  const report = stepReporter(context)
  if (race.heats === 'interleaved') return runReplicas(context, numbers, 1, report)
  for (const [index, number] of numbers.entries()) await runReplicas(context, [number], index + 1, report)
  context.onLook?.(false)
}

/** Milliseconds for a subject to end by itself once the race is aborted. */
const ABORT_TIMEOUT = 500

/** Runs the processes with these numbers of each subject at the same time, through all cycles. */
async function runReplicas(
  context: StageContext,
  numbers: readonly number[],
  firstHeat: number,
  report: ReportStep,
): Promise<void> {
  const { race, subjects, cases, stage, signal } = context
  const replicas: Replica[] = []
  const shuffledHeats = (): Replica[][] =>
    heatsOf(
      subjects.map((subject) => replicas.filter(({ run }) => run.subject === subject)),
      context.shuffle,
    )
  const onMeasure = ({ subject }: RunningSubject): void => report('measuring', subject)
  let heats: Replica[][] = []
  try {
    for (let cycle = 1; cycle <= race.cycles; cycle++) {
      const count = context.onLook ? processesIn(stage, cycle, { ...race, replicas: numbers.length }) : numbers.length
      const missing = numbers.slice(replicas.length / subjects.length, count)
      if (missing.length > 0) {
        const added = await startReplicas(context, missing, report)
        replicas.push(...added)
        for (const { run } of added) {
          report('comparing', run.subject)
          await compareResponses(run, cases, context.right, { ...race.load, signal })
        }
        heats = shuffledHeats()
        await warmUpInOrder(context, heats, new Set(added), report)
      }
      for (const testCase of context.shuffle(cases)) {
        for (const [index, heat] of heats.entries()) {
          await measureHeat(context, heat, { testCase, cycle, heat: firstHeat + index, onMeasure })
        }
        heats = shuffledHeats()
      }
      // Nothing else would notice a process that died after its last round.
      const dead = replicas.find(({ run }) => run.died.aborted)
      if (dead) throw dead.run.died.reason
      const isLookHere = race.heats === 'interleaved' && isLook(stage, cycle, race.cycles)
      if (isLookHere && context.onLook?.(isFirstLook(stage, cycle, race.cycles))) break
    }
  } finally {
    const timeout = signal.aborted ? Math.min(ABORT_TIMEOUT, race.stopTimeout) : race.stopTimeout
    // The generator would reconnect to a stopped process without end.
    for (const { connections } of replicas) closeConnections(connections)
    await Promise.all(replicas.map(({ run }) => run.stop(timeout)))
  }
}

/**
 * Warms new processes in the order of their first rounds, one round of each at a time: all have waited equally, and for no
 * longer than between rounds. V8 collects the garbage of a process that has waited for 8 s, and discards optimized code: a
 * subject was judged 0.81 times as good as itself. See docs/measurements.md#warm-up
 */
async function warmUpInOrder(
  context: StageContext,
  heats: readonly (readonly Replica[])[],
  added: ReadonlySet<Replica>,
  report: ReportStep,
): Promise<void> {
  await warmUp(
    context,
    heats.flat().filter((replica) => added.has(replica)),
    report,
  )
}
