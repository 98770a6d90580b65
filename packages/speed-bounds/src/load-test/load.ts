import { sendOnce } from '../connection/connect-to.ts'
import type { RepeatedRequest } from '../connection/connection.ts'
import { errorCodes } from '../errors.ts'
import type { LoadOptions } from '../options/load-types.ts'
import type { Subject } from '../options/types.ts'
import { type ResolvedLoadTest, resolveLoad } from '../options/resolve-load.ts'
import { exclusively } from '../race/race-queue.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import { openLoadGenerator } from './load-generator.ts'
import type { LoadReport } from './load-report.ts'
import { LoadRun } from './load-run.ts'
import { isRightStatus } from './tally.ts'

/**
 * Puts a server under load, and measures latency, CPU per request and memory.
 *
 * The load is an open loop: requests are sent at a rate, whether or not the server responds in time. Latency counts from
 * the intended time of each request, so a stall of the server shows in all requests that it delays. With `stages`, the
 * load is a closed loop of virtual users.
 *
 * @param subject - a server to start, see {@link Subject}, or the `http:` URL of a running one
 * @param options - the request and the load, see {@link LoadOptions}
 * @throws SpeedBoundsError when the subject does not start or respond, or dies
 *
 * @example
 * const { phases } = await load('./server.ts', { path: '/', rate: [500, '50%', { from: 100, to: 2000 }] })
 * for (const { load, latency, server } of phases) console.log(load, latency?.p99, server?.cpu)
 */
export async function load(subject: Subject, options: LoadOptions = {}): Promise<LoadReport> {
  const test = resolveLoad(subject, options)
  return exclusively(test.signal, async (supervisor) => {
    if (!test.subject) return runAgainst(test, test.origin!, undefined)
    test.onProgress({ step: 'starting', load: test.subject.label })
    const run = await supervisor.start(test.subject, {
      ...test,
      protocol: test.request.protocol,
      isReady: (origin, signal) => sendOnce({ ...test.request, origin }, signal),
    })
    return runAgainst(test, run.origin, run)
  })
}

async function runAgainst(
  test: ResolvedLoadTest,
  origin: string,
  run: RunningSubject | undefined,
): Promise<LoadReport> {
  const request = { ...test.request, origin }
  await assertRightResponse(test, request, run)
  const { status, connections, requestTimeout } = test
  const generator = await openLoadGenerator({ request, status, connections, requestTimeout })
  try {
    return await new LoadRun(test, generator, run).run()
  } finally {
    await generator.close()
  }
}

/** Load on a wrong path would measure error pages. */
async function assertRightResponse(
  { status: expected, requestTimeout, signal }: ResolvedLoadTest,
  request: RepeatedRequest,
  run: RunningSubject | undefined,
): Promise<void> {
  const { method, path, origin, protocol } = request
  const what = `${method} ${path} of ${run?.subject.label ?? origin}`
  let status: number
  try {
    status = await sendOnce(request, AbortSignal.any([signal, AbortSignal.timeout(requestTimeout)]))
  } catch (error) {
    signal.throwIfAborted()
    throw new errorCodes.SPEED_BOUNDS_WRONG_RESPONSE(
      `${what} gets no response over ${protocol}: ${(error as Error).message}`,
      { cause: error },
    )
  }
  if (isRightStatus(status, expected)) return
  const advice = expected === undefined ? `a 2xx. If that is right, set status: ${status}` : String(expected)
  throw new errorCodes.SPEED_BOUNDS_WRONG_RESPONSE(`${what} has status ${status}, expected ${advice}.`)
}
