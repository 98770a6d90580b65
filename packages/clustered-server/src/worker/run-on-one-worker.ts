import { opened, type ToWorker } from '../ipc/messages.ts'
import { tellPrimary } from '../ipc/send-to-primary.ts'

/** What only one worker is to do, until its signal says that another one does. */
export type Task = (signal: AbortSignal) => void | Promise<void>

/** Which environment variable has the process id of the primary, for its workers to know that they are. */
export const PRIMARY = 'CLUSTERED_SERVER_PRIMARY'

const isWorker = process.connected && process.env[PRIMARY] === String(process.ppid)
const leaving = new AbortController()
const waiting: Task[] = []
/** Tasks that have not ended. */
const running = new Set<Promise<void>>()
let state: 'alone' | 'unknown' | 'candidate' | 'leader' = isWorker ? 'unknown' : 'alone'

/**
 * Runs a task in one worker, whichever that is, and in another one when that ends: never in two at the same time. The
 * signal is aborted when the worker is to end, and the next one waits until the task has ended too, or the process has.
 * In a server of one process, or in an app that is run without one, it runs at once.
 *
 * @example
 * runOnOneWorker(async (signal) => {
 *   for await (const _ of setInterval(60_000, undefined, { signal })) await cleanUp()
 * })
 */
export function runOnOneWorker(task: Task): void {
  if (leaving.signal.aborted) return
  if (state === 'alone' || state === 'leader') return run(task)
  waiting.push(task)
  if (state === 'candidate') return
  state = 'candidate'
  process.on('message', (sent) => {
    const type = (opened(sent) as ToWorker | undefined)?.type
    if (type === 'lead') lead()
    // By itself: the app may have another copy of this package than the one that runs it.
    if (type === 'retire') void resign()
  })
  process.once('disconnect', () => void resign())
  tellPrimary({ type: 'candidate' })
}

/** Ends what this process does as the only one, and resolves when it has ended. */
export async function resign(): Promise<void> {
  const isFirst = !leaving.signal.aborted
  leaving.abort()
  // Until the stack of an error is read, V8 retains what its functions were called on: a server, and with it the app.
  void (leaving.signal.reason as Error).stack
  await Promise.allSettled(running)
  if (isFirst && state !== 'alone') tellPrimary({ type: 'resigned' })
}

function lead(): void {
  state = 'leader'
  if (!leaving.signal.aborted) for (const task of waiting.splice(0)) run(task)
}

function run(task: Task): void {
  // What it throws is nobody's to catch, and ends the process as anything else that nobody catches.
  const ended: Promise<void> = Promise.resolve()
    .then(() => task(leaving.signal))
    .then(() => void running.delete(ended))
  running.add(ended)
}
