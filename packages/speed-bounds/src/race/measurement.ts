// A visit puts processes under load until each has a round. If a round is longer than a turn, they alternate, and the
// others are paused with open connections. Otherwise they run one after the other. Turns last 0.2 s: shorter ones favor
// one server over another. See docs/measurements.md#turn-length

import { SpeedBoundsError } from '../errors.ts'
import type { Session, VolleyResult } from '../load/generator.ts'
import type { ResolvedCase, ResolvedLoad } from '../options/resolve.ts'
import { machineBusyTime, readTree, type TreeReading, useBetween } from '../subject/process-tree.ts'
import { bottleneckOf, type Round } from '../statistics/round.ts'
import type { StageContext } from './stage.ts'
import type { RunningSubject } from '../subject/subject.ts'

/** One of the processes of a subject. */
export interface Replica {
  readonly run: RunningSubject
  readonly number: number
}

/** The measured case, and its place in the race. */
interface Visit {
  readonly kase: ResolvedCase
  readonly cycle: number
  readonly heat: number
  /** Called before a process is put under load. */
  readonly onVisit: (run: RunningSubject) => void
}

/**
 * Load before each measured round: this many times its length, and at most `MOST` ms. New connections and processes
 * that have waited cost more, and not equally more for each server: with a lead of 0.1 s, ratios came out from 0.77x to
 * 1.62x. See docs/measurements.md#lead-before-rounds
 */
const LEAD = { ROUNDS: 3, MOST: 1000 }
/** A subject counts as idle when its busiest thread worked for less than this share of a `POLL` (ms). */
const SETTLE = { POLL: 5, IDLE: 0.3, MOST: 2000 }

/** wrk cannot leave out the beginning; its rounds are long enough to hide it. */
export function leadOf({ generator, duration }: ResolvedLoad): number {
  return generator === 'wrk' ? 0 : Math.min(LEAD.MOST, LEAD.ROUNDS * duration)
}

/** Measures one round of each process of a heat. */
export async function measureHeat(context: StageContext, heat: readonly Replica[], visit: Visit): Promise<void> {
  const { race } = context
  if (race.turn < race.load.duration) return visitInTurns(context, heat, visit)
  for (const replica of heat) {
    const { run } = replica
    visit.onVisit(run)
    if (race.idle === 'paused') await resume(run)
    const fired = await measure(context, run, visit.kase)
    context.onRound(toRound(context, replica, visit, fired))
    if (race.idle === 'paused') await run.pause()
  }
}

/** A process of a heat, with its connections and the use of its turns. */
interface Lane {
  readonly replica: Replica
  readonly session: Session
  elapsed: number
  hangs: boolean
  readonly use: Use
  tree: TreeReading
}

async function visitInTurns(context: StageContext, heat: readonly Replica[], visit: Visit): Promise<void> {
  const { race, generator, right, signal } = context
  const { load, turn } = race
  const { status } = right.get(visit.kase.name)!
  const lanes: Lane[] = []
  for (const replica of heat) {
    const { run } = replica
    visit.onVisit(run)
    const idle = await resume(run)
    const session = generator.open(run.origin, visit.kase, status, load, signal)
    const use = { cpu: 0, busiest: 0, time: 0, others: 0 }
    const lane = { replica, session, elapsed: 0, hangs: false, use, tree: idle.tree }
    lanes.push(lane)
    await takeTurn(lane, idle, leadOf(load), false)
  }
  // A slow process takes longer for its last responses. Once one has had its duration, all have had enough. Once one
  // hangs, no more needs to be known.
  const goOn = (): boolean => lanes.every(({ elapsed, hangs }) => elapsed < load.duration && !hangs)
  for (let left = load.duration; left > 0 && goOn(); left -= turn) {
    for (const lane of context.shuffle(lanes)) await takeTurn(lane, await resume(lane.replica.run), turn, true)
  }
  for (const { replica, session, use, tree } of lanes) {
    const { run } = replica
    await run.resume()
    const result = await Promise.race([session.finish(), run.untilDeath])
    await untilIdle(run)
    await run.pause()
    context.onRound({ ...toRound(context, replica, visit, firedOf(result, use, tree)), heat: visit.heat })
  }
}

/** All CPU that a turn causes counts: the process is idle before and after. */
async function takeTurn(lane: Lane, before: Look, duration: number, counts: boolean): Promise<void> {
  const { run } = lane.replica
  const { isAnswered, elapsed } = await Promise.race([lane.session.turn(duration, counts), run.untilDeath])
  const after = await untilIdle(run)
  if (run.died.aborted || after.tree.threads.size === 0) throw await deathOf(run)
  await run.pause()
  if (!counts) return
  lane.elapsed += elapsed
  lane.hangs = !isAnswered
  const { cpu, busiest, time, others } = useSince(before, after)
  lane.use.cpu += cpu
  lane.use.busiest += busiest
  lane.use.time += time
  lane.use.others += others
  lane.tree = after.tree
}

/** Resumes a process until it has done overdue work: its timers, and connections that others have closed. */
async function resume(run: RunningSubject): Promise<Look> {
  await run.resume()
  return untilIdle(run)
}

async function measure(context: StageContext, run: RunningSubject, kase: ResolvedCase): Promise<Fired> {
  const { load } = context.race
  const lead = leadOf(load)
  if (load.amount === undefined) return fire(context, run, kase, load, lead)
  // A round with a fixed amount sends all of it, so its lead is a load of its own.
  await fire(context, run, kase, { ...load, duration: lead, amount: undefined })
  return fire(context, run, kase, load)
}

function toRound(
  { race, stage }: StageContext,
  { run, number }: Replica,
  { kase, cycle }: Visit,
  { result, cpu, utilisation, rss, peakRss, foreignCpu }: Fired,
): Round {
  const { answers, elapsed, latency } = result
  const failures = refuseFailures(run, kase, result)
  return {
    stage,
    cycle,
    subject: run.subject.name,
    replica: number,
    case: kase.name,
    answers,
    failures,
    elapsed,
    cpu,
    throughput: (answers / elapsed) * 1000,
    p50: latency.p50,
    p90: latency.p90,
    p99: latency.p99,
    rss,
    peakRss,
    serverUtilisation: utilisation,
    generatorUtilisation: result.utilisation,
    foreignCpu,
    bottleneck: bottleneckOf(utilisation, result.utilisation),
    ...(foreignCpu > race.maxForeignCpu ? { discarded: 'foreign-cpu' as const } : {}),
  }
}

interface Fired {
  result: VolleyResult
  /** Microseconds per response. */
  cpu: number
  utilisation: number
  rss: number
  peakRss: number
  foreignCpu: number
}

export async function fire(
  { generator, right, signal }: StageContext,
  run: RunningSubject,
  kase: ResolvedCase,
  load: ResolvedLoad,
  lead = 0,
): Promise<Fired> {
  const { status } = right.get(kase.name)!
  let before = look(run)
  await before
  const onBegin = (): void => void (before = look(run))
  const result = await Promise.race([
    generator.fire(run.origin, kase, status, load, signal, { milliseconds: lead, onBegin }),
    run.untilDeath,
  ])
  const after = await look(run)
  const begin = await before
  if (run.died.aborted || after.tree.threads.size === 0) throw await deathOf(run)
  await untilIdle(run)
  return firedOf(result, useSince(begin, after), after.tree)
}

function firedOf(result: VolleyResult, { cpu, busiest, time, others }: Use, { rss, peakRss }: TreeReading): Fired {
  return {
    result,
    cpu: (cpu * 1000) / result.answers,
    utilisation: Math.min(1, busiest / result.elapsed),
    rss,
    peakRss,
    // Kernel counters advance in steps of 10 ms, so a value slightly below zero is noise.
    foreignCpu: Math.max(0, (others - result.cpu) / time),
  }
}

/** CPU used so far, in milliseconds. */
interface Look {
  readonly tree: TreeReading
  readonly machine: number
  readonly own: number
}

async function look(run: RunningSubject): Promise<Look> {
  const machine = machineBusyTime()
  const { user, system } = process.cpuUsage()
  return { tree: await readTree(run.pid), machine, own: (user + system) / 1000 }
}

/** CPU of a subject in this time, and CPU of all others except this process, in milliseconds. */
interface Use {
  cpu: number
  busiest: number
  time: number
  others: number
}

function useSince(before: Look, after: Look): Use {
  const { cpu, busiest } = useBetween(before.tree, after.tree)
  const others = after.machine - before.machine - cpu - (after.own - before.own)
  return { cpu, busiest, time: after.tree.at - before.tree.at, others }
}

/** Waits for work that is left when the generator stops: it must not run into the next round. */
async function untilIdle(run: RunningSubject): Promise<Look> {
  let before = await look(run)
  const deadline = before.tree.at + SETTLE.MOST
  while (before.tree.at < deadline) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE.POLL))
    const after = await look(run)
    const { busiest, time } = useSince(before, after)
    before = after
    if (busiest < SETTLE.IDLE * time) break
  }
  return before
}

/** Returns how many requests of a round failed. Throws if they and the earlier ones exceed the case's allowance. */
export function refuseFailures(
  run: RunningSubject,
  kase: ResolvedCase,
  { answers, before, failures }: VolleyResult,
): number {
  const { errors, timeouts, hanging, unexpectedStatus } = failures
  const failed = errors + timeouts + hanging + unexpectedStatus
  const asked = before.answers + answers + failed
  const allowance = allowanceOf(kase, run.subject.name)
  if (answers > 0 && failed <= allowance * asked) return failed - before.failures
  throw new SpeedBoundsError(
    'SPEED_BOUNDS_FAILED_REQUESTS',
    `${run.subject.name} failed ${failed} of ${asked} requests of case '${kase.name}' under load (allowance: ${allowance * 100} %): ` +
      `${errors} connection errors, ${timeouts} timeouts, ${hanging} connections left without an answer, ${unexpectedStatus} answers with another status. ` +
      'Failed requests are never counted as speed.' +
      (hanging > 0 ? ' A round must be longer than an answer takes: see `duration`.' : ''),
  )
}

function allowanceOf({ allowance }: ResolvedCase, subject: string): number {
  if (typeof allowance === 'number') return allowance
  return Object.hasOwn(allowance, subject) ? allowance[subject]! : 0
}

/** The process is gone. The warden's report with its stderr follows, and is preferred. */
async function deathOf(run: RunningSubject): Promise<Error> {
  const gone = new SpeedBoundsError('SPEED_BOUNDS_SUBJECT_DIED', `${run.subject.name} (${run.subject.label}) is gone.`)
  const late = new Promise<Error>((resolve) => setTimeout(resolve, 1000, gone))
  return Promise.race([late, run.untilDeath.catch((error: Error) => error)])
}
