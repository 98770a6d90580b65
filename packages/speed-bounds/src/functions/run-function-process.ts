import { errorCodes } from '../errors.ts'
import { seconds } from '../report/format.ts'
import { siblingModule } from '../sibling-module.ts'
import { ownEnvironment } from '../subject/own-environment.ts'
import { quoteStderr } from '../subject/quote-stderr.ts'
import type { SupervisorChannel } from '../subject/supervisor-channel.ts'
import type { Supervisor } from '../subject/supervisor.ts'
import type { FunctionJob, FunctionReport } from './process-messages.ts'

/** How processes of functions run. Times are in milliseconds. */
export interface FunctionRuntime {
  readonly nodeArgs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Until the first call has ended, and again until the measurement has. */
  readonly callTimeout: number
}

/** Runs one job in a fresh process, and returns its last report. The process has ended then. */
export async function runFunctionProcess(
  { channel, nextId }: Supervisor,
  job: FunctionJob,
  runtime: FunctionRuntime,
  signal: AbortSignal,
): Promise<FunctionReport> {
  signal.throwIfAborted()
  const id = nextId()
  const stopped = channel.next(id, 'stopped')
  const report = lastReport(channel, id, job, { ...runtime, signal })
  channel.send({
    type: 'start',
    id,
    command: [process.execPath, ...runtime.nodeArgs, siblingModule('./function-process', import.meta.url)],
    env: { ...ownEnvironment(), NODE_ENV: 'production', ...runtime.env },
    cwd: runtime.cwd,
    job,
  })
  try {
    return await report
  } finally {
    channel.send({ type: 'stop', id, timeout: 0 })
    // A lost supervisor is reported already.
    await stopped.catch(() => {})
  }
}

/** The last report of a process. Rejects if it ends, takes too long, or is aborted. */
function lastReport(
  channel: SupervisorChannel,
  id: string,
  job: FunctionJob,
  { callTimeout, signal }: Pick<FunctionRuntime, 'callTimeout'> & { signal: AbortSignal },
): Promise<FunctionReport> {
  const { promise, resolve, reject } = Promise.withResolvers<FunctionReport>()
  const fail = (text: string): void => reject(new errorCodes.SPEED_BOUNDS_FUNCTION_FAILED(text))
  const expire = (): void =>
    fail(
      `Function ${nameOf(job)} did not return within ${seconds(callTimeout)}: make it faster, resolve its promise, or raise "callTimeout".`,
    )
  let timer = setTimeout(expire, callTimeout)
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort)
  channel.onLost(reject)
  channel.on(id, 'failed', ({ message }) => fail(`Node could not be started: ${message}`))
  channel.on(id, 'exited', ({ status, stderr }) =>
    fail(`The process of ${nameOf(job)} ended ${status} before it was measured.${quoteStderr(stderr)}`),
  )
  channel.on(id, 'message', ({ message }) => {
    const report = message as FunctionReport
    if (report.type !== 'called') return resolve(report)
    clearTimeout(timer)
    timer = setTimeout(expire, callTimeout + lengthOf(job))
  })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  })
}

function nameOf(job: FunctionJob): string {
  return job.type === 'list' ? 'the file' : `"${job.place.name}"`
}

function lengthOf(job: FunctionJob): number {
  return job.type === 'list' ? 0 : 2 * (job.warmUp + job.duration)
}
