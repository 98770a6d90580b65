import { errorCodes } from '../errors.ts'
import { seconds } from '../report/format.ts'
import { siblingModule } from '../sibling-module.ts'
import { ownEnvironment } from '../subject/own-environment.ts'
import { quoteStderr } from '../subject/quote-stderr.ts'
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
  supervisor: Supervisor,
  job: FunctionJob,
  runtime: FunctionRuntime,
  signal: AbortSignal,
): Promise<FunctionReport> {
  signal.throwIfAborted()
  const { channel } = supervisor
  const id = supervisor.nextId()
  const stopped = channel.next(id, 'stopped')
  try {
    return await new Promise<FunctionReport>((resolve, reject) => {
      let timer = setTimeout(expire, runtime.callTimeout)
      const settle = (settled: () => void): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        settled()
      }
      function onAbort(): void {
        settle(() => reject(signal.reason as Error))
      }
      function expire(): void {
        const text = `Function ${nameOf(job)} did not return within ${seconds(runtime.callTimeout)}: make it faster, resolve its promise, or raise "callTimeout".`
        settle(() => reject(new errorCodes.SPEED_BOUNDS_FUNCTION_FAILED(text)))
      }
      signal.addEventListener('abort', onAbort)
      channel.onLost((error) => settle(() => reject(error)))
      channel.on(id, 'failed', ({ message }) =>
        settle(() => reject(new errorCodes.SPEED_BOUNDS_FUNCTION_FAILED(`Node could not be started: ${message}`))),
      )
      channel.on(id, 'exited', ({ status, stderr }) => {
        const text = `The process of ${nameOf(job)} ended ${status} before it was measured.${quoteStderr(stderr)}`
        settle(() => reject(new errorCodes.SPEED_BOUNDS_FUNCTION_FAILED(text)))
      })
      channel.on(id, 'message', ({ message }) => {
        const report = message as FunctionReport
        if (report.type !== 'called') return settle(() => resolve(report))
        clearTimeout(timer)
        timer = setTimeout(expire, runtime.callTimeout + lengthOf(job))
      })
      channel.send({
        type: 'start',
        id,
        command: [process.execPath, ...runtime.nodeArgs, siblingModule('./function-process', import.meta.url)],
        env: { ...ownEnvironment(), NODE_ENV: 'production', ...runtime.env },
        cwd: runtime.cwd,
        job,
      })
    })
  } finally {
    channel.send({ type: 'stop', id, timeout: 0 })
    // A lost supervisor is reported already.
    await stopped.catch(() => {})
  }
}

function nameOf(job: FunctionJob): string {
  return job.type === 'list' ? 'the file' : `"${job.place.name}"`
}

function lengthOf(job: FunctionJob): number {
  return job.type === 'list' ? 0 : 2 * (job.warmUp + job.duration)
}
