// One run of autocannon, the CPU that it takes, and its result in the terms of a load generator.

import { performance } from 'node:perf_hooks'
import autocannon, { type Options } from 'autocannon'
import { readTree, useBetween } from '../../platform/tree-usage.ts'
import type { LoadResult, Workload } from '../generator.ts'
import type { BusyPoll } from './busy-poll.ts'
import type { RequestGate } from './request-gate.ts'
import type { ResponseTally } from './response-tally.ts'

/**
 * Interval of autocannon's check whether its time is over, in milliseconds. With its default of a second, each round
 * would last one second.
 */
export const SAMPLE_INTERVAL = 10

/** Starts autocannon, and counts its responses. */
export function start(
  { origin, method, path, headers, body, status, load }: Workload,
  { gate, tally }: { readonly gate: RequestGate; readonly tally: ResponseTally },
  options: Partial<Options>,
): { run: autocannon.Instance; ended: Promise<autocannon.Result> } {
  gate.onReconnect = (client) => tally.reconnected(client)
  const { promise: ended, resolve, reject } = Promise.withResolvers<autocannon.Result>()
  const run = autocannon(
    {
      url: origin + path,
      method: method as NonNullable<Options['method']>,
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
      connections: load.connections,
      pipelining: load.pipelining,
      sampleInt: SAMPLE_INTERVAL,
      setupClient: gate.setupClient,
      ...options,
    },
    (error: Error | null, result: autocannon.Result) => (error ? reject(error) : resolve(result)),
  )
  run.on('response', (client: unknown, code: number, _bytes: number, milliseconds: number) =>
    tally.response(client, code === status, milliseconds),
  )
  run.on('reqError', () => {
    if (!gate.isRetrying) tally.error()
  })
  return { run, ended }
}

/** Time with work and CPU time of this process, in milliseconds. */
export interface OwnUse {
  readonly busy: number
  readonly cpu: number
  /** CPU time without busy polling. */
  readonly workCpu: number
}

/** Starts to measure this process. The returned function reads the result. Busy polling is not work. */
export function startMeter(poll: BusyPoll): () => Promise<OwnUse> {
  const tree = readTree(process.pid)
  const loop = performance.eventLoopUtilization()
  const { waited } = poll
  return async () => {
    const { active } = performance.eventLoopUtilization(loop)
    const waitedSince = poll.waited - waited
    const { busiest, cpu } = useBetween(await tree, await readTree(process.pid))
    // The event loop's own figure counts time in which it was ready but had no core as idle.
    return { busy: Math.max(active, busiest) - waitedSince, cpu, workCpu: Math.max(0, cpu - waitedSince) }
  }
}

/** The outcome of a finished round, in which `missing` requests got no response. */
export function outcomeOf(
  { load }: Workload,
  tally: ResponseTally,
  { errors, timeouts }: Pick<autocannon.Result, 'errors' | 'timeouts'>,
  missing: number,
): Pick<LoadResult, 'before' | 'latency' | 'histogram' | 'failures'> {
  // If the server closes a connection with pending requests, autocannon reconnects without an error.
  const lost = Math.max(0, missing - errors * load.pipelining)
  return {
    before: tally.before,
    latency: tally.latency,
    histogram: tally.histogram,
    failures: {
      errors: errors - timeouts + lost,
      timeouts,
      hanging: tally.hanging,
      unexpectedStatus: tally.wrong,
    },
  }
}

/**
 * Maximum milliseconds for the first responses of all connections. Those that have theirs wait meanwhile, and would
 * time out.
 */
export function maxConnectTime({ load }: Workload): number {
  return load.requestTimeout / 2
}
