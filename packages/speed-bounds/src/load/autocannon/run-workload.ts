import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadResult, RunWorkload, Workload } from '../generator.ts'
import { BusyPoll } from './busy-poll.ts'
import { maxConnectTime, outcomeOf, SAMPLE_INTERVAL, start, startMeter } from './start-autocannon.ts'
import { RequestGate } from './request-gate.ts'
import { ResponseTally } from './response-tally.ts'
import { runInTurns } from './run-in-turns.ts'

export const runWorkload: RunWorkload = (workload, { onBegin, onReady }) => {
  if (workload.inTurns) return runInTurns(workload, onReady).then(() => undefined)
  const { amount } = workload.load
  return amount === undefined ? runForDuration(workload, onBegin) : runForAmount(workload, amount)
}

/** A round of a fixed number of requests. All of them count. */
async function runForAmount(workload: Workload, amount: number): Promise<LoadResult> {
  const { load } = workload
  const gate = new RequestGate(load.connections, workload.method)
  gate.open()
  const tally = new ResponseTally(load)
  const poll = new BusyPoll(load.busyPoll)
  const read = startMeter(poll)
  poll.start()
  const { ended } = start(
    workload,
    { gate, tally },
    {
      timeout: load.requestTimeout / 1000,
      amount,
      // Without it, connections to a hanging server would wait one after the other.
      bailout: load.connections,
    },
  )
  const result = await ended.finally(() => poll.stop())
  const elapsed = performance.now() - tally.began
  const { busy, cpu, workCpu } = await read()
  return {
    responses: tally.right,
    elapsed: tally.last - tally.began,
    utilization: busy / elapsed,
    cpu,
    workCpu,
    ...outcomeOf(workload, tally, result, result.requests.sent - result.requests.total),
  }
}

/** A round of a fixed duration, with a lead. */
async function runForDuration(workload: Workload, onBegin: () => void): Promise<LoadResult> {
  const { load, lead } = workload
  const gate = new RequestGate(load.connections, workload.method)
  const tally = new ResponseTally(load)
  const poll = new BusyPoll(load.busyPoll)
  poll.start()
  const { run, ended } = start(
    workload,
    { gate, tally },
    {
      timeout: load.requestTimeout / 1000,
      duration: (maxConnectTime(workload) + lead + Math.max(load.duration, load.requestTimeout)) / 1000,
    },
  )
  let stopped = tally.began
  // The last tick comes when the time is over, before the connections are closed.
  run.on('tick', () => (stopped = performance.now()))
  await Promise.race([gate.allConnected, sleep(maxConnectTime(workload)), ended])
  gate.open()
  await Promise.race([sleep(lead), ended])
  onBegin()
  tally.begin(gate.lost)
  const read = startMeter(poll)
  await Promise.race([sleep(load.duration), ended])
  const isEnded = ended.then(() => true)
  while (!tally.isOver() && !(await Promise.race([isEnded, sleep(SAMPLE_INTERVAL, false)])));
  run.stop()
  const result = await ended
  poll.stop()
  const elapsed = performance.now() - tally.began
  const { busy, cpu, workCpu } = await read()
  return {
    responses: tally.right - tally.before.responses,
    // A stall at the end of a round belongs to it.
    elapsed: stopped - tally.began,
    utilization: Math.min(1, busy / elapsed),
    cpu,
    workCpu,
    ...outcomeOf(workload, tally, { errors: tally.errors, timeouts: result.timeouts }, gate.lost),
  }
}
