import getPort from 'get-port'
import { errorCodes, type SpeedBoundsError } from '../errors.ts'
import type { ResolvedSubject } from '../options/resolved.ts'
import { listTree, signalTree } from '../platform/process-tree.ts'
import { ownEnvironment } from './own-environment.ts'
import { type ReadinessLimits, waitUntilReady } from './readiness.ts'
import type { RunningSubject } from './running-subject.ts'
import { quoteStderr } from './quote-stderr.ts'
import type { SupervisorChannel } from './supervisor-channel.ts'

const HOST = '127.0.0.1'

/** Limits of a start, in milliseconds, and the signal that aborts it. */
export interface StartLimits extends ReadinessLimits {
  readonly stopTimeout: number
}

export async function startSubject(
  channel: SupervisorChannel,
  id: string,
  subject: ResolvedSubject,
  { stopTimeout, ...readiness }: StartLimits,
): Promise<RunningSubject> {
  const port = await getPort({ host: HOST })
  const death = new AbortController()
  let isStopping = false
  channel.on(id, 'exited', ({ status, stderr }) => {
    if (!isStopping) death.abort(endedBy(subject, status, stderr))
  })
  channel.onLost((error) => death.abort(error))
  const pid = await spawnSubject(channel, id, subject, port)
  const run: RunningSubject = {
    subject,
    pid,
    origin: `http://${HOST}:${port}`,
    died: death.signal,
    untilDeath: rejectionOf(death.signal),
    async pause() {
      // The second pass stops processes that were started during the first one.
      for (let pass = 0; pass < 2; pass++) await signalAll(pid, 'SIGSTOP')
    },
    resume: () => signalAll(pid, 'SIGCONT'),
    async stop(timeout = stopTimeout) {
      if (isStopping) return
      isStopping = true
      const stopped = channel.next(id, 'stopped')
      channel.send({ type: 'stop', id, timeout })
      // A lost supervisor is reported already, and `onLost` below ends the subject.
      await stopped.catch(() => {})
    },
  }
  channel.onLost(() => killGroup(pid))
  try {
    await waitUntilReady(channel, id, run, readiness)
  } catch (error) {
    // It serves no request yet.
    await run.stop(0)
    throw error
  }
  return run
}

/** Has the supervisor start the process, and returns its pid. */
async function spawnSubject(
  channel: SupervisorChannel,
  id: string,
  subject: ResolvedSubject,
  port: number,
): Promise<number> {
  const fill = (text: string): string => text.replaceAll('{host}', HOST).replaceAll('{port}', String(port))
  const [program, ...args] = subject.command
  const started = channel.next(id, 'started', 'failed')
  channel.send({
    type: 'start',
    id,
    command: [fill(program), ...args.map(fill)],
    env: { ...ownEnvironment(), NODE_ENV: 'production', HOST, PORT: String(port), ...subject.env },
    cwd: subject.cwd,
  })
  const report = await started
  if (report.type === 'started') return report.pid
  throw new errorCodes.SPEED_BOUNDS_SUBJECT_NOT_STARTED(
    `${subject.name} (${subject.label}) could not be started: ${report.message}`,
  )
}

/** A promise that rejects with the reason of a signal. */
function rejectionOf(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason as Error)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  promise.catch(() => {})
  return promise
}

async function signalAll(root: number, name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  if (process.platform !== 'win32') signalTree(root, await listTree(root), name)
}

function endedBy(subject: ResolvedSubject, status: string, stderr: string): SpeedBoundsError {
  return new errorCodes.SPEED_BOUNDS_SUBJECT_DIED(
    `${subject.name} (${subject.label}) ended ${status}.${quoteStderr(stderr)}`,
  )
}

/** Ends a subject without its supervisor. */
function killGroup(pid: number): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
