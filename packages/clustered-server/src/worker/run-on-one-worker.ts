import { decode, PRIMARY_PID, type ToWorker } from '../ipc/messages.ts'
import { sendToPrimary } from '../ipc/send-to-primary.ts'

/** A task for one worker only. Its signal is aborted when another worker is to run it. */
export type Task = (signal: AbortSignal) => void | Promise<void>

const isWorker = process.connected && process.env[PRIMARY_PID] === String(process.ppid)
const leaving = new AbortController()
const waiting: Task[] = []
/** Tasks that have not ended. */
const running = new Set<Promise<void>>()
let state: 'alone' | 'unknown' | 'candidate' | 'leader' = isWorker ? 'unknown' : 'alone'

/**
 * Runs a task in one worker, and in another one when that worker ends, but never in two at the same time. When the worker
 * is to end, the signal is aborted. The next worker waits until the task has ended, or the process has. In a server with
 * one process, or without a server, the task runs immediately.
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
    const type = (decode(sent) as ToWorker | undefined)?.type
    if (type === 'lead') lead()
    // Listens on its own, because the app may load a second copy of this package.
    if (type === 'retire') void resign()
  })
  process.once('disconnect', () => void resign())
  sendToPrimary({ type: 'candidate' })
}

/** Ends the tasks of this process, and resolves when they have ended. */
export async function resign(): Promise<void> {
  const isFirst = !leaving.signal.aborted
  leaving.abort()
  // Until the stack of an error is read, V8 retains the receivers of its functions: a server, and with it the app.
  void (leaving.signal.reason as Error).stack
  await Promise.allSettled(running)
  if (isFirst && state !== 'alone') sendToPrimary({ type: 'resigned' })
}

function lead(): void {
  state = 'leader'
  if (!leaving.signal.aborted) for (const task of waiting.splice(0)) run(task)
}

function run(task: Task): void {
  // A rejection is left unhandled on purpose: it ends the process like any other.
  const ended: Promise<void> = Promise.resolve()
    .then(() => task(leaving.signal))
    .then(() => void running.delete(ended))
  running.add(ended)
}
