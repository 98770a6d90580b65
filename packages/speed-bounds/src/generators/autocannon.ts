import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon, { type Options } from 'autocannon'
import { build } from 'hdr-histogram-js'
import type { Generate, TurnResult, VolleyResult } from '../generator.ts'
import { readTree, useBetween } from '../process-tree.ts'
import { Gate } from './gate.ts'

/**
 * How often autocannon looks whether its time is over, in milliseconds: its default of a second
 * would make each round one second long.
 */
const SAMPLE = 10

/**
 * A round is shorter than any timeout, so a server that leaves requests hanging would not be noticed.
 * A connection is hanging if at the end it had waited this many times longer than the p99 of all
 * answers: among 400 connections at a busy server some wait long for their turn, but not that long.
 */
const HANGING = 20

/** Milliseconds that one which looks so has to answer, while others are answered. */
const PATIENCE = 1000

/**
 * Milliseconds between two answers that count as waiting, at the most: in a longer silence nobody is answered, since the
 * server has no core or another guest of the hypervisor has it, and who waits then hangs no more than the others do.
 */
const SILENCE = 50

/** Seconds: what is fired in turns has no end but the one that it is told. */
const ENDLESS = 1e6

export const generate: Generate = async (
  { origin, method, path, headers, body, status, load, lead, inTurns },
  { onBegin, onReady },
): Promise<VolleyResult> => {
  // autocannon records whole milliseconds; a p99 of a fast server is a fraction of one.
  const latency = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
  })
  // A round of so many requests has them all, from the first on.
  const gate = load.amount === undefined ? new Gate(load.connections) : undefined
  /** A round at one go can do without it, where this version of autocannon has clients that it does not know. */
  let isGated = gate !== undefined
  const ungated = Promise.withResolvers<void>()
  /** Milliseconds that first answers may take: those who have theirs wait meanwhile, and would be given up after a timeout. */
  const mostWelcome = load.requestTimeout / 2
  const options: Options = {
    url: origin + path,
    method: method as NonNullable<Options['method']>,
    headers: { ...headers },
    ...(body === undefined ? {} : { body }),
    connections: load.connections,
    pipelining: load.pipelining,
    // Between two turns a connection may be silent for as long as the others take.
    timeout: inTurns ? ENDLESS : load.requestTimeout / 1000,
    setupClient: (client) => {
      if (inTurns || Gate.knows(client)) return gate?.setupClient(client)
      isGated = false
      ungated.resolve()
    },
    // Ended below. With an amount, a server that hangs must not keep the other connections waiting one after the other.
    ...(load.amount === undefined
      ? { duration: inTurns ? ENDLESS : (mostWelcome + lead + Math.max(load.duration, load.requestTimeout)) / 1000 }
      : { amount: load.amount, bailout: load.connections }),
    sampleInt: SAMPLE,
  }
  let treeBefore = readTree(process.pid)
  await treeBefore
  let loopBefore = performance.eventLoopUtilization()
  const start = performance.now()
  /** Settles when each connection has had an answer, or some of them never will. */
  const welcomed = gate && Promise.race([gate.welcomed, ungated.promise, sleep(mostWelcome)])
  /** When the round began, and what was there before. */
  let began = gate ? undefined : start
  let before = { answers: 0, failures: 0 }
  let right = 0
  let failed = 0
  const begin = (): void => {
    began = performance.now()
    before = { answers: right, failures: failed }
    latency.reset()
  }
  let last = start
  let stopped = start
  /** Milliseconds in which there were answers. */
  let lively = 0
  const livelyAt = (time: number): number => lively + Math.min(time - last, SILENCE)
  /** When each connection had its last answer, in milliseconds in which there were some. */
  const lastAnswers = new Map<unknown, number>()
  /** How many connections have waited for longer than so many milliseconds. */
  const waiting = (milliseconds: number): number => {
    const past = livelyAt(performance.now()) - milliseconds
    const answered = [...lastAnswers.values()].filter((at) => at < past).length
    return answered + (past > 0 ? load.connections - lastAnswers.size : 0)
  }
  /** Of those who wait while others were answered, some may look as if they hung: it is known after a while. */
  let hanging = 0
  const isOver = (): boolean => {
    if (began === undefined || lastAnswers.size === 0) return false
    const long = (HANGING * latency.getValueAtPercentile(99)) / 1000
    hanging = waiting(Math.max(long, PATIENCE))
    // When all wait, the first answer or a timeout will tell.
    const silent = last < began || performance.now() - last > long
    return hanging > 0 || (!silent && lastAnswers.size === load.connections && waiting(long) === 0)
  }
  /** Of a round that is had at one go. */
  const whole = async (): Promise<Pick<VolleyResult, 'answers' | 'elapsed' | 'utilisation' | 'cpu'>> => {
    const { utilization } = performance.eventLoopUtilization(loopBefore)
    const from = began ?? start
    const elapsed = performance.now() - from
    const use = useBetween(await treeBefore, await readTree(process.pid))
    return {
      answers: right - before.answers,
      // A stall at the end of a round belongs to it.
      elapsed: load.amount === undefined ? stopped - from : last - from,
      // The event loop's own figure takes time in which it was ready but had no core for idle.
      utilisation: Math.max(utilization, use.busiest / elapsed),
      cpu: use.cpu,
    }
  }
  /** Of the turns that count: their length until the last answer, and what the generator did in them, in milliseconds. */
  const turns = { answers: 0, elapsed: 0, busy: 0, cpu: 0 }
  /** Requests that had no answer when the time for it was over, and nobody had. */
  let late = 0
  const turn = async (duration: number, counts: boolean): Promise<TurnResult> => {
    await welcomed
    if (counts && began === undefined) begin()
    const treeAtStart = await readTree(process.pid)
    const loopAtStart = performance.eventLoopUtilization()
    // Meanwhile nobody could be answered.
    const from = (last = performance.now())
    const rightBefore = right
    gate!.open()
    await sleep(duration)
    gate!.close()
    if (gate!.underWay > 0) {
      const answered = new Promise<void>((resolve) => (gate!.onIdle = resolve))
      await Promise.race([answered, sleep(PATIENCE)])
    }
    const outcome = { isAnswered: gate!.underWay === 0, elapsed: last - from }
    if (!counts) return outcome
    const { active } = performance.eventLoopUtilization(loopAtStart)
    const use = useBetween(treeAtStart, await readTree(process.pid))
    turns.answers += right - rightBefore
    turns.elapsed += outcome.elapsed
    turns.busy += Math.max(active, use.busiest)
    turns.cpu += use.cpu
    return outcome
  }
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error: Error | null, outcome: autocannon.Result) =>
      error ? reject(error) : resolve(outcome),
    )
    run.on('response', (client: unknown, code: number, _bytes: number, milliseconds: number) => {
      if (code === status) right++
      else failed++
      latency.recordValue(milliseconds * 1000)
      const now = performance.now()
      lively = livelyAt(now)
      last = now
      lastAnswers.set(client, lively)
    })
    // The last one comes when the time is over, before the connections are closed.
    run.on('tick', () => (stopped = performance.now()))
    let erred = false
    run.on('reqError', () => {
      erred = true
      failed++
    })
    if (gate && inTurns) {
      const finish = (): void => {
        if (gate.underWay === 0 || erred) return run.stop()
        // Whoever is not answered now while others are will never be.
        gate.open()
        const deadline = performance.now() + load.requestTimeout
        const looking = setInterval(() => {
          const isLate = performance.now() > deadline
          if (!isOver() && !erred && !isLate) return
          clearInterval(looking)
          if (isLate) late = gate.underWay
          run.stop()
        }, SAMPLE)
      }
      onReady({ turn, finish })
      return
    }
    if (!gate) return
    let opened: number | undefined
    const open = (): void => {
      gate.open()
      opened = performance.now()
    }
    void welcomed!.then(open)
    const looking = setInterval(() => {
      const now = performance.now()
      if (opened === undefined) return
      if (began === undefined && now - opened >= lead) {
        onBegin()
        begin()
        loopBefore = performance.eventLoopUtilization()
        treeBefore = readTree(process.pid)
      } else if (began !== undefined && now - began >= load.duration && (isOver() || erred)) run.stop()
    }, SAMPLE)
    run.on('done', () => clearInterval(looking))
  })
  const answered = result.requests.total
  // A connection that the server closes with requests under way is opened again without a word;
  // what was asked, not answered and not under way at the end, was lost.
  const underWay = load.amount === undefined ? load.connections * load.pipelining : 0
  const missing = gate && isGated ? gate.lost : result.requests.sent - answered - underWay
  const lost = Math.max(0, missing - result.errors * load.pipelining)
  const { busy, ...counted } = turns
  const measured = inTurns ? { ...counted, utilisation: busy / turns.elapsed } : await whole()
  return {
    ...measured,
    utilisation: Math.min(1, measured.utilisation),
    before,
    latency: {
      p50: latency.getValueAtPercentile(50) / 1000,
      p90: latency.getValueAtPercentile(90) / 1000,
      p99: latency.getValueAtPercentile(99) / 1000,
    },
    failures: {
      errors: result.errors - result.timeouts + lost,
      timeouts: result.timeouts + late,
      hanging: Math.max(0, hanging - result.errors),
      unexpectedStatus: answered - right,
    },
  }
}
