import { availableParallelism } from 'node:os'
import { checkAnswers, type RightAnswers } from './answers.ts'
import { SpeedBoundsError } from './errors.ts'
import type { Generator, VolleyResult } from './generator.ts'
import type { ResolvedCase, ResolvedLoad, ResolvedRace, ResolvedSubject } from './options.ts'
import { machineBusyTime, readTree, type TreeReading, useBetween } from './process-tree.ts'
import type { Progress } from './progress.ts'
import { bottleneckOf, type Round } from './round.ts'
import { cycleOrder, isLook, type Shuffle } from './schedule.ts'
import type { RunningSubject, Warden } from './subject.ts'

/** What a stage needs from its race. */
export interface StageContext {
  readonly race: ResolvedRace
  readonly subjects: readonly ResolvedSubject[]
  readonly cases: readonly ResolvedCase[]
  readonly stage: number
  readonly warden: Warden
  readonly generator: Generator
  readonly right: RightAnswers
  readonly shuffle: Shuffle
  /** Ends the stage: what is under way is not waited for. */
  readonly signal: AbortSignal
  /** Called after each round. */
  readonly onRound: (round: Round) => void
  /** Called where the data may be looked at; true ends the stage. */
  readonly onLook: () => boolean
  readonly onProgress: (progress: Omit<Progress, 'elapsed'>) => void
}

interface Replica {
  readonly run: RunningSubject
  readonly number: number
}

/**
 * A process is warm when its rounds of `ROUND` ms have not become cheaper by 3 % for `STEADY` ms and
 * stayed within 15 % of the cheapest, not before `leastWarmUp` ms of load (a third of it for the cases after
 * the first). The first 0.5 s cost 2-3 times as much CPU per request, and in their midst there is a
 * round that costs 3-8 times as much, when optimised code is thrown away and made again. With 400 ms of
 * it, one process in ten was called warm between two such times, and its rounds then cost twice as
 * much as those of the others. What still falls after that is taken out by the trimmed means.
 */
const WARM = { ROUND: 100, STEADY: 200, GAIN: 0.97, NEAR: 1.15 }
/**
 * How long a subject is under load before each measured round: so many times as long as the round, and so many
 * milliseconds at the most. Connections that have just been opened, and a process that has waited for its visit, cost
 * more. After 30 s without a request a plain Fastify server took 80, 54, 60, 81 and then 41 to 48 µs in windows of 200 ms,
 * after 180 s 247, 83, 58, 57, 95 and then 31 to 49: its garbage collector had thrown away what no request held just then,
 * optimised code too. Others lose less by it, so with rounds that begin after 0.1 s, a server was called 0.77 (0.66 to
 * 0.90) and, among more processes, 1.62 (1.31 to 2.00) times as good as that one.
 */
const LEAD = { ROUNDS: 3, MOST: 1000 }
/** A subject counts as idle when its busiest thread worked for less than this share of a `POLL` (ms). */
const SETTLE = { POLL: 5, IDLE: 0.3, MOST: 2000 }
/** wrk counts whole seconds. */
const WRK_ROUND = 1000
/** What a warm-up takes beyond the least, as a rule, and a round beside its load: only for telling the time that is left. */
const USUAL = { warmer: 600, round: 125, start: 170 }

/** Starts fresh processes of each subject, and warms and visits them in random order, cycle by cycle. */
export async function runStage(context: StageContext): Promise<void> {
  const { race, subjects, cases, stage, signal, onProgress } = context
  const rounds = race.cycles * race.replicas * subjects.length * cases.length
  const tell = (
    phase: Progress['phase'],
    { name }: ResolvedSubject,
    done: number,
    total: number,
    remaining: number,
  ): void => onProgress({ phase, subject: name, stage, done, total, remaining })
  const replicas = await startReplicas(context, (subject, done, total) =>
    tell('starting', subject, done, total, (total - done) * USUAL.start + timeFor(race, cases.length, total, rounds)),
  )
  try {
    for (const [done, { run }] of replicas.entries()) {
      tell('comparing', run.subject, done, replicas.length, timeFor(race, cases.length, replicas.length, rounds))
      await checkAnswers(run, cases, context.right, { ...race.load, signal })
    }
    const bySubject = subjects.map((subject) => replicas.filter(({ run }) => run.subject === subject))
    // They are visited first as they were warmed: so all have waited as long. With one subject warmed after the other, those
    // of the first had lost more of their optimised code, and it was called 0.81 times as good as what it is as good as.
    let order = cycleOrder(bySubject, context.shuffle)
    for (const [done, { run }] of order.entries()) {
      tell('warming', run.subject, done, replicas.length, timeFor(race, cases.length, replicas.length - done, rounds))
      await warm(context, run)
      if (race.idle === 'paused') await run.pause()
    }
    let done = 0
    for (let cycle = 1; cycle <= race.cycles; cycle++) {
      for (const kase of context.shuffle(cases)) {
        for (const replica of order) {
          tell('measuring', replica.run.subject, done, rounds, timeFor(race, cases.length, 0, rounds - done))
          context.onRound(await visit(context, replica, kase, cycle))
          done++
        }
        order = cycleOrder(bySubject, context.shuffle)
      }
      // One that died after its last visit would go unnoticed.
      const dead = replicas.find(({ run }) => run.died.aborted)
      if (dead) throw dead.run.died.reason
      if (isLook(stage, cycle, race.cycles) && context.onLook()) break
    }
  } finally {
    await Promise.all(replicas.map(({ run }) => run.stop()))
  }
}

/** Milliseconds that so many warm-ups and measured rounds take. */
function timeFor({ load, warmUp, leastWarmUp }: ResolvedRace, cases: number, warmUps: number, rounds: number): number {
  const least = Math.min(warmUp, leastWarmUp)
  const perProcess = least + USUAL.warmer + (cases - 1) * (least / 3 + USUAL.warmer / 3)
  return warmUps * perProcess + rounds * (roundLength(load) + USUAL.round)
}

/** Milliseconds that a whole stage of so many subjects and cases takes, as a rule. */
export function usualStageTime(race: ResolvedRace, subjects: number, cases: number): number {
  const replicas = race.replicas * subjects
  const rounds = race.cycles * replicas * cases
  return (replicas * USUAL.start) / availableParallelism() + timeFor(race, cases, replicas, rounds)
}

function roundLength(load: ResolvedLoad): number {
  const { generator, duration } = load
  return leadOf(load) + (generator === 'wrk' ? Math.ceil(duration / WRK_ROUND) * WRK_ROUND : duration)
}

/** wrk cannot leave out the beginning; its rounds are long enough to hide it. */
function leadOf({ generator, duration }: ResolvedLoad): number {
  return generator === 'wrk' ? 0 : Math.min(LEAD.MOST, LEAD.ROUNDS * duration)
}

/** Starts as many at a time as there are cores: more would only make each of them late. */
async function startReplicas(
  { race, subjects, stage, warden, signal }: StageContext,
  tell: (subject: ResolvedSubject, done: number, total: number) => void,
): Promise<Replica[]> {
  const wanted = subjects.flatMap((subject) =>
    Array.from({ length: race.replicas }, (_, index) => ({ subject, number: (stage - 1) * race.replicas + index + 1 })),
  )
  const started: Replica[] = []
  const queue = [...wanted]
  const startNext = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      tell(next.subject, started.length, wanted.length)
      try {
        started.push({ run: await warden.start(next.subject, { ...race, signal }), number: next.number })
      } catch (error) {
        // No use in starting the others.
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

/** Cold code costs two to three times as much: fires until the CPU per answer stops falling. */
async function warm(context: StageContext, run: RunningSubject): Promise<void> {
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
      // A slow server needs longer rounds: until each connection had an answer, a round tells nothing.
      if (answers < load.connections && length < longest) {
        length *= 2
        continue
      }
      // A cold one may take the whole of a warm-up round until it accepts the last connection.
      const hanging = answers === 0 ? failures.hanging : 0
      refuseFailures(run, kase, { ...result, failures: { ...failures, hanging } })
      steady = cpu < best * WARM.GAIN || cpu > best * WARM.NEAR ? 0 : steady + elapsed
      if (cpu < best * WARM.GAIN) best = cpu
    }
  }
}

/** One round, of a process that is paused before and after it. */
async function visit(context: StageContext, replica: Replica, kase: ResolvedCase, cycle: number): Promise<Round> {
  const { run } = replica
  if (context.race.idle === 'running') return measure(context, replica, kase, cycle)
  await run.resume()
  // Its timers are overdue, and others may have closed their connections to it.
  await untilIdle(run, await readTree(run.pid))
  const round = await measure(context, replica, kase, cycle)
  await run.pause()
  return round
}

async function measure(
  context: StageContext,
  { run, number }: Replica,
  kase: ResolvedCase,
  cycle: number,
): Promise<Round> {
  const { race, stage } = context
  const lead = leadOf(race.load)
  // A round of so many requests has them all: what comes before it is a load of its own.
  if (race.load.amount !== undefined)
    await fire(context, run, kase, { ...race.load, duration: lead, amount: undefined })
  const { result, cpu, utilisation, rss, peakRss, foreignCpu } = await fire(
    context,
    run,
    kase,
    race.load,
    race.load.amount === undefined ? lead : 0,
  )
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
  /** Microseconds per answer. */
  cpu: number
  utilisation: number
  rss: number
  peakRss: number
  foreignCpu: number
}

async function fire(
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
  await untilIdle(run, after.tree)
  const { cpu, busiest } = useBetween(begin.tree, after.tree)
  const foreign = after.machine - begin.machine - cpu - result.cpu - (after.own - begin.own)
  return {
    result,
    cpu: (cpu * 1000) / result.answers,
    utilisation: Math.min(1, busiest / result.elapsed),
    rss: after.tree.rss,
    peakRss: after.tree.peakRss,
    // Kernel counters advance in steps of 10 ms: a little below zero is nothing.
    foreignCpu: Math.max(0, foreign / (after.tree.at - begin.tree.at)),
  }
}

/** What everybody has used so far, in milliseconds of CPU. */
async function look(run: RunningSubject): Promise<{ tree: TreeReading; machine: number; own: number }> {
  const machine = machineBusyTime()
  const { user, system } = process.cpuUsage()
  return { tree: await readTree(run.pid), machine, own: (user + system) / 1000 }
}

/** What was under way when the generator stopped is still worked on: it must not run into the next round. */
async function untilIdle(run: RunningSubject, last: TreeReading): Promise<void> {
  const deadline = last.at + SETTLE.MOST
  for (let before = last; before.at < deadline;) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE.POLL))
    const after = await readTree(run.pid)
    if (useBetween(before, after).busiest < SETTLE.IDLE * (after.at - before.at)) return
    before = after
  }
}

/** Returns how many requests of a round failed, or throws when they, or those before it, are more than the case allows. */
function refuseFailures(run: RunningSubject, kase: ResolvedCase, { answers, before, failures }: VolleyResult): number {
  const { errors, timeouts, hanging, unexpectedStatus } = failures
  const failed = errors + timeouts + hanging + unexpectedStatus
  const asked = before.answers + answers + failed
  if (answers > 0 && failed <= kase.allowance * asked) return failed - before.failures
  throw new SpeedBoundsError(
    'SPEED_BOUNDS_FAILED_REQUESTS',
    `${run.subject.name} failed ${failed} of ${asked} requests of case '${kase.name}' under load (allowance: ${kase.allowance * 100} %): ` +
      `${errors} connection errors, ${timeouts} timeouts, ${hanging} connections left without an answer, ${unexpectedStatus} answers with another status. ` +
      'Failed requests are never counted as speed.' +
      (hanging > 0 ? ' A round must be longer than an answer takes: see `duration`.' : ''),
  )
}

/** The process is gone, the warden's report with its stderr is on its way. */
async function deathOf(run: RunningSubject): Promise<Error> {
  const gone = new SpeedBoundsError('SPEED_BOUNDS_SUBJECT_DIED', `${run.subject.name} (${run.subject.label}) is gone.`)
  const late = new Promise<Error>((resolve) => setTimeout(resolve, 1000, gone))
  return Promise.race([late, run.untilDeath.catch((error: Error) => error)])
}
