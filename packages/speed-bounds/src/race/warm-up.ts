import { roundLength } from '../load/round-length.ts'
import type { ResolvedCase, ResolvedLoad } from '../options/resolved.ts'
import { applyLoad, type LoadMeasurement } from './apply-load.ts'
import { closeConnections, connectionsOf } from './connections.ts'
import { cpuBetween, readCpu } from './cpu-accounting.ts'
import { assertFewFailures, deathOf } from './failed-requests.ts'
import { isWarm } from './is-warm.ts'
import type { Replica, StageContext } from './stage-context.ts'
import type { ReportStep } from './step-reporter.ts'
import { keepsConnections } from './turn-policy.ts'

/** Milliseconds of a round of warm-up. */
const ROUND = 100

/** Warms processes, one round of each at a time, until all are warm. */
export async function warmUp(context: StageContext, group: readonly Replica[], report: ReportStep): Promise<void> {
  let cold = group.map((replica) => ({ run: replica.run, rounds: warmUpRounds(context, replica) }))
  for (const { run } of cold) report('warming', run.subject)
  while (cold.length > 0) {
    const left: typeof cold = []
    for (const process of cold) {
      if (group.length > 1) await process.run.resume()
      const { done } = await process.rounds.next()
      if (!done) left.push(process)
      if (context.race.idle === 'paused' && (done || cold.length > 1)) await process.run.pause()
    }
    cold = left
  }
}

/**
 * Loads a process until its CPU per response stops falling, but not before `minWarmUp` ms (a third of it for later cases), and
 * yields after each round. Cold code costs two to three times as much. Costs are those relative to the generator, which a slower
 * core changes least. See docs/measurements.md#warm-up
 */
async function* warmUpRounds(context: StageContext, replica: Replica): AsyncGenerator<void, void> {
  const { race, cases } = context
  const { run } = replica
  const longest = Math.max(race.load.duration, race.maxWarmUp)
  let length = roundLength({ generator: race.load.generator, duration: ROUND })
  for (const [index, testCase] of cases.entries()) {
    const least = index === 0 ? race.minWarmUp : race.minWarmUp / 3
    let costs: number[] = []
    for (let time = 0; time < longest && (time < least || !isWarm(costs, length));) {
      const load: ResolvedLoad = { ...race.load, duration: Math.min(length, longest), amount: undefined }
      const began = performance.now()
      const { cpu: absolute, result } = await warmUpRound(context, replica, testCase, load)
      const { responses, failures, workCpu } = result
      const cost = workCpu > 0 ? (absolute * responses) / workCpu : absolute
      // A slow server makes a round longer, and so does a hanging connection.
      time += Math.max(length, performance.now() - began)
      // A slow server needs longer rounds: until each connection had a response, a round says nothing.
      if (responses < load.connections && length < longest) {
        length *= 2
        costs = []
        continue
      }
      // A cold server may take a whole warm-up round to accept the last connection.
      const hanging = responses === 0 ? failures.hanging : 0
      assertFewFailures(run, testCase, { ...result, failures: { ...failures, hanging } })
      costs.push(cost)
      yield
    }
  }
}

/** A round over the connections that the measured rounds will use. */
async function warmUpRound(
  context: StageContext,
  replica: Replica,
  testCase: ResolvedCase,
  load: ResolvedLoad,
): Promise<Pick<LoadMeasurement, 'cpu' | 'result'>> {
  const { run } = replica
  if (!keepsConnections(context.race)) return applyLoad(context, run, testCase, load)
  const connections = connectionsOf(context, replica, testCase)
  const before = await readCpu(run)
  const { isComplete } = await Promise.race([connections.session.turn(load.duration, true), run.untilDeath])
  const after = await readCpu(run)
  if (run.died.aborted || after.tree.threads.size === 0) throw await deathOf(run)
  const result = await Promise.race([connections.session.collect(), run.untilDeath])
  connections.lastUsed = performance.now()
  if (!isComplete) closeConnections(replica.connections, [testCase.name])
  return { cpu: (cpuBetween(before, after).cpu * 1000) / result.responses, result }
}
