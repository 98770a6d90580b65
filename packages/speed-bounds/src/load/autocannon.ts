import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon, { type Options } from 'autocannon'
import type { Generate, TurnResult, Turns, Volley, VolleyResult } from './generator.ts'
import { readTree, useBetween } from '../subject/process-tree.ts'
import { BusyPoll } from './busy-poll.ts'
import { Gate } from './request-gate.ts'
import { PATIENCE, Tally } from './response-tally.ts'

/**
 * How often autocannon looks whether its time is over, in milliseconds: its default of a second
 * would make each round one second long.
 */
const SAMPLE = 10

/** Seconds: what is fired in turns has no end but the one that it is told. */
const ENDLESS = 1e6

export const generate: Generate = (volley, { onBegin, onReady }) => {
  if (volley.inTurns) return inTurns(volley, onReady)
  return volley.load.amount === undefined ? forSomeTime(volley, onBegin) : soManyRequests(volley, volley.load.amount)
}

/** A round of so many requests: it has them all, from the first on. */
async function soManyRequests(volley: Volley, amount: number): Promise<VolleyResult> {
  const { load } = volley
  const gate = new Gate(load.connections)
  gate.open()
  const tally = new Tally(load)
  const poll = new BusyPoll(load.busyPoll)
  const read = startMeter(poll)
  poll.start()
  const { ended } = fire(volley, tally, {
    timeout: load.requestTimeout / 1000,
    amount,
    // A server that hangs must not keep the other connections waiting one after the other.
    bailout: load.connections,
    setupClient: gate.setupClient,
  })
  const result = await ended.finally(() => poll.stop())
  const elapsed = performance.now() - tally.began
  const { busy, cpu } = await read()
  return {
    answers: tally.right,
    elapsed: tally.last - tally.began,
    utilisation: busy / elapsed,
    cpu,
    ...outcomeOf(volley, tally, result, result.requests.sent - result.requests.total),
  }
}

/** A round that is had at one go. */
async function forSomeTime(volley: Volley, onBegin: () => void): Promise<VolleyResult> {
  const { load, lead } = volley
  const gate = new Gate(load.connections)
  const tally = new Tally(load)
  const poll = new BusyPoll(load.busyPoll)
  poll.start()
  const { run, ended } = fire(volley, tally, {
    timeout: load.requestTimeout / 1000,
    duration: (mostWelcome(volley) + lead + Math.max(load.duration, load.requestTimeout)) / 1000,
    setupClient: gate.setupClient,
  })
  let stopped = tally.began
  // The last one comes when the time is over, before the connections are closed.
  run.on('tick', () => (stopped = performance.now()))
  await Promise.race([gate.welcomed, sleep(mostWelcome(volley)), ended])
  gate.open()
  await Promise.race([sleep(lead), ended])
  onBegin()
  tally.begin(gate.lost)
  const read = startMeter(poll)
  await Promise.race([sleep(load.duration), ended])
  const isEnded = ended.then(() => true)
  while (!tally.isOver() && !tally.hasErrors && !(await Promise.race([isEnded, sleep(SAMPLE, false)])));
  run.stop()
  const result = await ended
  poll.stop()
  const elapsed = performance.now() - tally.began
  const { busy, cpu } = await read()
  return {
    answers: tally.right - tally.before.answers,
    // A stall at the end of a round belongs to it.
    elapsed: stopped - tally.began,
    utilisation: Math.min(1, busy / elapsed),
    cpu,
    ...outcomeOf(volley, tally, result, gate.lost),
  }
}

/** A round that is had in turns with others. */
async function inTurns(volley: Volley, onReady: (turns: Turns) => void): Promise<VolleyResult> {
  const { load } = volley
  const gate = new Gate(load.connections)
  const tally = new Tally(load)
  const poll = new BusyPoll(load.busyPoll)
  const { run, ended } = fire(volley, tally, {
    // Between two turns a connection may be silent for as long as the others take.
    timeout: ENDLESS,
    duration: ENDLESS,
    setupClient: gate.setupClient,
  })
  const welcomed = Promise.race([gate.welcomed, sleep(mostWelcome(volley))])
  /** Of the turns that count: their length until the last answer, and what the generator did in them, in milliseconds. */
  let counted: { answers: number; elapsed: number; busy: number; cpu: number } | undefined
  /** Requests that had no answer when the time for it was over, and nobody had. */
  let late = 0

  const turn = async (duration: number, counts: boolean): Promise<TurnResult> => {
    await welcomed
    if (counts && !counted) {
      counted = { answers: 0, elapsed: 0, busy: 0, cpu: 0 }
      tally.begin(gate.lost)
    }
    const read = startMeter(poll)
    poll.start()
    tally.wake()
    const from = tally.last
    const rightBefore = tally.right
    gate.open()
    await sleep(duration)
    gate.close()
    if (gate.underWay > 0) {
      const answered = new Promise<void>((resolve) => (gate.onIdle = resolve))
      await Promise.race([answered, sleep(PATIENCE)])
    }
    poll.stop()
    const outcome = { isAnswered: gate.underWay === 0, elapsed: tally.last - from }
    if (counts && counted) {
      const { busy, cpu } = await read()
      counted.answers += tally.right - rightBefore
      counted.elapsed += outcome.elapsed
      counted.busy += busy
      counted.cpu += cpu
    }
    return outcome
  }

  const finish = async (): Promise<void> => {
    if (gate.underWay > 0 && !tally.hasErrors) {
      // Whoever is not answered now while others are will never be.
      gate.open()
      const deadline = performance.now() + load.requestTimeout
      while (!tally.isOver() && !tally.hasErrors && performance.now() < deadline) await sleep(SAMPLE)
      if (performance.now() >= deadline) late = gate.underWay
    }
    run.stop()
  }

  onReady({ turn, finish: () => void finish() })
  const result = await ended
  const { answers, elapsed, busy, cpu } = counted ?? { answers: 0, elapsed: 0, busy: 0, cpu: 0 }
  const outcome = outcomeOf(volley, tally, result, gate.lost)
  const failures = { ...outcome.failures, timeouts: outcome.failures.timeouts + late }
  return { answers, elapsed, utilisation: Math.min(1, busy / elapsed), cpu, ...outcome, failures }
}

/** Milliseconds that first answers may take: those who have theirs wait meanwhile, and would be given up after a timeout. */
function mostWelcome({ load }: Volley): number {
  return load.requestTimeout / 2
}

function fire(
  { origin, method, path, headers, body, status, load }: Volley,
  tally: Tally,
  options: Partial<Options>,
): { run: autocannon.Instance; ended: Promise<autocannon.Result> } {
  const { promise: ended, resolve, reject } = Promise.withResolvers<autocannon.Result>()
  const run = autocannon(
    {
      url: origin + path,
      method: method as NonNullable<Options['method']>,
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
      connections: load.connections,
      pipelining: load.pipelining,
      sampleInt: SAMPLE,
      ...options,
    },
    (error: Error | null, result: autocannon.Result) => (error ? reject(error) : resolve(result)),
  )
  run.on('response', (client: unknown, code: number, _bytes: number, milliseconds: number) =>
    tally.answer(client, code === status, milliseconds),
  )
  run.on('reqError', () => tally.error())
  return { run, ended }
}

/** Begins to look at what this process uses; what it returns tells it, in milliseconds. To wait awake is no work. */
function startMeter(poll: BusyPoll): () => Promise<{ busy: number; cpu: number }> {
  const tree = readTree(process.pid)
  const loop = performance.eventLoopUtilization()
  const { waited } = poll
  return async () => {
    const { active } = performance.eventLoopUtilization(loop)
    const waitedSince = poll.waited - waited
    const { busiest, cpu } = useBetween(await tree, await readTree(process.pid))
    // The event loop's own figure takes time in which it was ready but had no core for idle.
    return { busy: Math.max(active, busiest) - waitedSince, cpu }
  }
}

/** Of a round that has ended, with so many requests that no answer will come for. */
function outcomeOf(
  { load }: Volley,
  tally: Tally,
  { errors, timeouts }: autocannon.Result,
  missing: number,
): Pick<VolleyResult, 'before' | 'latency' | 'failures'> {
  // A connection that the server closes with requests under way is opened again without a word.
  const lost = Math.max(0, missing - errors * load.pipelining)
  return {
    before: tally.before,
    latency: tally.latency,
    failures: {
      errors: errors - timeouts + lost,
      timeouts,
      hanging: Math.max(0, tally.hanging - errors),
      unexpectedStatus: tally.wrong,
    },
  }
}
