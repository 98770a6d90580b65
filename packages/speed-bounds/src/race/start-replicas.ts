import { availableParallelism } from 'node:os'
import type { Replica, StageContext } from './stage-context.ts'
import type { ReportStep } from './step-reporter.ts'

/** Starts the processes with these numbers of each subject, one per core at a time: more would delay each of them. */
export async function startReplicas(
  { race, subjects, supervisor, signal }: StageContext,
  numbers: readonly number[],
  report: ReportStep,
): Promise<Replica[]> {
  const queue = subjects.flatMap((subject) => numbers.map((number) => ({ subject, number })))
  const started: Replica[] = []
  const startNext = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      report('starting', next.subject)
      try {
        started.push({
          run: await supervisor.start(next.subject, { ...race, signal }),
          number: next.number,
          connections: new Map(),
        })
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
  await Promise.all(started.map(({ run }) => run.stop(0)))
  throw failed.reason
}
