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
  const failure = new AbortController()
  const ended = AbortSignal.any([signal, failure.signal])
  const startNext = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      report('starting', next.subject)
      try {
        started.push({
          run: await supervisor.start(next.subject, { ...race, signal: ended }),
          number: next.number,
          connections: new Map(),
        })
      } catch (error) {
        // The others would be started, or waited for, in vain. The first error is the cause of later ones.
        queue.length = 0
        failure.abort(error)
        throw error
      }
    }
  }
  await Promise.allSettled(Array.from({ length: availableParallelism() }, startNext))
  if (!failure.signal.aborted) return started
  await Promise.all(started.map(({ run }) => run.stop(0)))
  throw failure.signal.reason
}
