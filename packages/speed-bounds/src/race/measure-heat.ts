// Measures one round of each process of a heat, while the others are paused with open connections. In rounds longer than a
// turn, the processes of a heat alternate. Turns last 0.2 s: shorter ones favor one server over another. See
// docs/measurements.md#turn-length

import type { LoadResult, TurnCounts } from '../load/generator.ts'
import type { ResolvedCase } from '../options/resolved.ts'
import { exceedsForeignCpu } from '../statistics/foreign-cpu.ts'
import { bottleneckOf, type Round } from '../statistics/measured-round.ts'
import type { TreeReading } from '../platform/tree-usage.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import { applyLoad, type LoadMeasurement, measurementOf } from './apply-load.ts'
import { closeConnections, connectionsOf, leadFor } from './connections.ts'
import { cpuBetween, type CpuReading, type CpuUse, resumeUntilIdle, untilIdle } from './cpu-accounting.ts'
import { assertFewFailures, deathOf } from './failed-requests.ts'
import { leadOf } from './lead-in.ts'
import type { Connections, Replica, StageContext } from './stage-context.ts'
import { keepsConnections, takesTurns } from './turn-policy.ts'

/** The measured case, and its place in the race. */
interface HeatPlan {
  readonly testCase: ResolvedCase
  readonly cycle: number
  readonly heat: number
  /** Called before a process is put under load. */
  readonly onMeasure: (run: RunningSubject) => void
}

export async function measureHeat(context: StageContext, heat: readonly Replica[], plan: HeatPlan): Promise<void> {
  if (takesTurns(context.race)) return measureInTurns(context, heat, plan)
  for (const replica of heat) {
    if (keepsConnections(context.race)) await measureInTurns(context, [replica], plan)
    else await measureAlone(context, replica, plan)
  }
}

/** Measures a round with connections of its own. */
async function measureAlone(context: StageContext, replica: Replica, plan: HeatPlan): Promise<void> {
  const { run } = replica
  const isPaused = context.race.idle === 'paused'
  plan.onMeasure(run)
  if (isPaused) await resumeUntilIdle(run)
  const measurement = await measureWholeRound(context, run, plan.testCase)
  context.onRound(roundOf(context, replica, plan, measurement), measurement.result.histogram)
  if (isPaused) await run.pause()
}

async function measureWholeRound(
  context: StageContext,
  run: RunningSubject,
  testCase: ResolvedCase,
): Promise<LoadMeasurement> {
  const { load } = context.race
  const lead = leadOf(load)
  if (load.amount === undefined) return applyLoad(context, run, testCase, load, lead)
  // A round with a fixed amount sends all of it, so its lead is a separate load.
  await applyLoad(context, run, testCase, { ...load, duration: lead, amount: undefined })
  return applyLoad(context, run, testCase, load)
}

/** A process of a heat, with its connections and the CPU of its turns. */
interface AlternatingReplica {
  readonly replica: Replica
  readonly connections: Connections
  readonly use: CpuUse
  elapsed: number
  hangs: boolean
  tree: TreeReading
}

async function measureInTurns(context: StageContext, heat: readonly Replica[], plan: HeatPlan): Promise<void> {
  const { load, turn } = context.race
  const alternating: AlternatingReplica[] = []
  for (const replica of heat) alternating.push(await openConnections(context, replica, plan))
  // A slow process takes longer for its last responses. Once one has had its duration, all have had enough. Once one
  // hangs, the round has failed.
  const needMore = (): boolean => alternating.every(({ elapsed, hangs }) => elapsed < load.duration && !hangs)
  for (let left = load.duration; left > 0 && needMore(); left -= turn) {
    for (const one of context.shuffle(alternating)) await takeCountedTurn(context, one)
  }
  for (const one of alternating) {
    const { replica, use, tree } = one
    const result = await collect(one, plan.testCase)
    const round = roundOf(context, replica, plan, measurementOf(result, use, tree))
    context.onRound(takesTurns(context.race) ? { ...round, heat: plan.heat } : round, result.histogram)
  }
}

/** If the server has closed connections meanwhile, the turn does not count, and another follows after the lead. */
async function takeCountedTurn({ race: { load, turn } }: StageContext, one: AlternatingReplica): Promise<void> {
  const { run } = one.replica
  const isFirst = one.elapsed === 0
  const reconnected = await takeTurn(one, await resumeUntilIdle(run), turn, isFirst ? 'unless-reconnected' : true)
  if (!isFirst || !reconnected) return
  await takeTurn(one, await resumeUntilIdle(run), leadOf(load), false)
  await takeTurn(one, await resumeUntilIdle(run), turn, true)
}

/** Opens the connections of a process. If it is not warm, it has a turn first that does not count. */
async function openConnections(
  context: StageContext,
  replica: Replica,
  { testCase, onMeasure }: HeatPlan,
): Promise<AlternatingReplica> {
  onMeasure(replica.run)
  const idle = await resumeUntilIdle(replica.run)
  const connections = connectionsOf(context, replica, testCase)
  const use = { cpu: 0, busiest: 0, time: 0, others: 0, stolen: 0 }
  const opened = { replica, connections, use, elapsed: 0, hangs: false, tree: idle.tree }
  const lead = leadFor(context.race, connections, replica, idle.tree.rss)
  if (lead > 0) await takeTurn(opened, idle, lead, false)
  return opened
}

/**
 * All CPU that a turn causes counts, because the process is idle before and after. Returns whether the server had closed
 * connections before it.
 */
async function takeTurn(
  one: AlternatingReplica,
  before: CpuReading,
  duration: number,
  counts: TurnCounts,
): Promise<boolean> {
  const { replica, connections } = one
  const { run } = replica
  const turn = await Promise.race([connections.session.turn(duration, counts), run.untilDeath])
  const after = await untilIdle(run)
  if (run.died.aborted || after.tree.threads.size === 0) throw await deathOf(run)
  await run.pause()
  connections.lastUsed = performance.now()
  if (counts === false || (counts === 'unless-reconnected' && turn.reconnected)) return turn.reconnected
  one.elapsed += turn.elapsed
  one.hangs = !turn.isComplete
  const { cpu, busiest, time, others, stolen } = cpuBetween(before, after)
  one.use.cpu += cpu
  one.use.busiest += busiest
  one.use.time += time
  one.use.others += others
  one.use.stolen += stolen
  one.tree = after.tree
  return turn.reconnected
}

/** The measurements of all turns. Connections with a request that is still pending are not used again. */
async function collect(
  { replica, connections, hangs }: AlternatingReplica,
  testCase: ResolvedCase,
): Promise<LoadResult> {
  const { run } = replica
  if (!hangs) return Promise.race([connections.session.collect(), run.untilDeath])
  await run.resume()
  const result = await Promise.race([connections.session.collect(), run.untilDeath])
  closeConnections(replica.connections, [testCase.name])
  await untilIdle(run)
  await run.pause()
  return result
}

function roundOf(
  { race, stage }: StageContext,
  { run, number }: Replica,
  { testCase, cycle }: HeatPlan,
  { result, cpu, utilization, rss, peakRss, foreignCpu, stolenCpu }: LoadMeasurement,
): Round {
  const { responses, elapsed, latency } = result
  const failures = assertFewFailures(run, testCase, result)
  return {
    stage,
    cycle,
    subject: run.subject.name,
    replica: number,
    case: testCase.name,
    responses,
    failures,
    elapsed,
    cpu,
    throughput: (responses / elapsed) * 1000,
    p50: latency.p50,
    p90: latency.p90,
    p99: latency.p99,
    rss,
    peakRss,
    serverUtilization: utilization,
    generatorUtilization: result.utilization,
    generatorCpu: (result.workCpu * 1000) / responses,
    foreignCpu,
    stolenCpu,
    bottleneck: bottleneckOf(utilization, result.utilization),
    ...(exceedsForeignCpu({ foreignCpu, stolenCpu }, race.maxForeignCpu) ? { discarded: 'foreign-cpu' as const } : {}),
  }
}
