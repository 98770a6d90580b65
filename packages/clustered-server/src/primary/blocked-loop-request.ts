import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { PROFILE_MS } from '../ipc/messages.ts'
import type { BlockedLoopReportKind } from '../options/types.ts'
import type { BlockedLoopReport } from '../server-types.ts'

/** Maximum time for a report, in milliseconds. A loop that is blocked outside of JavaScript sends none. */
const TIMEOUT = 2000

/** Requests a report from the thread at the other end of a pipe. Always resolves, in time. */
export async function requestReport(pipe: Duplex, kind: BlockedLoopReportKind): Promise<BlockedLoopReport> {
  const timeout = TIMEOUT + (kind === 'profile' ? PROFILE_MS : 0)
  const signal = AbortSignal.timeout(timeout)
  const ended = new AbortController()
  pipe.once('end', () => ended.abort())
  try {
    if (pipe.readableEnded || pipe.destroyed) ended.abort()
    pipe.write('\n')
    const [report] = (await once(pipe, 'data', { signal: AbortSignal.any([signal, ended.signal]) })) as [Buffer]
    return { file: undefined, at: undefined, failure: undefined, ...(JSON.parse(String(report)) as object) }
  } catch {
    const late = `no report within ${timeout} ms: the process is stopped, or blocked outside of JavaScript`
    const failure = signal.aborted ? late : 'the thread that reports has ended'
    return { file: undefined, at: undefined, failure }
  }
}
