import { isLook } from '../statistics/interim-looks.ts'
import { compareResponses } from '../subject/compare-responses.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import { measureHeat } from './measure-heat.ts'
import { heatsOf } from './schedule.ts'
import type { StageContext } from './stage-context.ts'
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
  context.onLook()
}

/** Runs the processes with these numbers of each subject at the same time, through all cycles. */
async function runReplicas(
  context: StageContext,
  numbers: readonly number[],
  firstHeat: number,
  report: ReportStep,
): Promise<void> {
  const { race, subjects, cases, stage, signal } = context
  const replicas = await startReplicas(context, numbers, report)
  try {
    for (const { run } of replicas) {
      report('comparing', run.subject)
      await compareResponses(run, cases, context.right, { ...race.load, signal })
    }
    const bySubject = subjects.map((subject) => replicas.filter(({ run }) => run.subject === subject))
    // First rounds follow the order of warm-up, so that all have waited equally. Otherwise the subject warmed first has
    // lost optimized code, and a subject was judged 0.81 times as good as itself. See docs/measurements.md#warm-up
    let heats = heatsOf(bySubject, context.shuffle)
    // Successive heats alternate during warm-up too, so that no process waits for longer than a round.
    const warmUpGroups = race.heats === 'successive' ? heats : heats.flat().map((replica) => [replica])
    for (const group of warmUpGroups) await warmUp(context, group, report)
    const onMeasure = ({ subject }: RunningSubject): void => report('measuring', subject)
    for (let cycle = 1; cycle <= race.cycles; cycle++) {
      for (const testCase of context.shuffle(cases)) {
        for (const [index, heat] of heats.entries()) {
          await measureHeat(context, heat, { testCase, cycle, heat: firstHeat + index, onMeasure })
        }
        heats = heatsOf(bySubject, context.shuffle)
      }
      // Nothing else would notice a process that died after its last round.
      const dead = replicas.find(({ run }) => run.died.aborted)
      if (dead) throw dead.run.died.reason
      if (race.heats === 'interleaved' && isLook(stage, cycle, race.cycles) && context.onLook()) break
    }
  } finally {
    await Promise.all(replicas.map(({ run }) => run.stop()))
  }
}
