import { decode, type ToWorker } from '../ipc/messages.ts'
import { sendToPrimary } from '../ipc/send-to-primary.ts'
import { isWorker } from './is-worker.ts'

/** A task for one worker only. Its signal is aborted when another worker is to run it. */
export type Task = (signal: AbortSignal) => void | Promise<void>

/** Copies of this package in this process: an app may load another one than the server, as that of its release. */
interface Copies {
  readonly all: Set<Copy>
  /** Settled when the tasks of all copies have ended. */
  resigned?: Promise<void>
}

interface Copy {
  readonly endTasks: () => Promise<unknown>
  /** Whether the primary knows of its tasks. */
  readonly isCandidate: () => boolean
}

const COPIES = Symbol.for('clustered-server.runOnOneWorker')
const copies = ((globalThis as { [COPIES]?: Copies })[COPIES] ??= { all: new Set() })
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
    // The worker may run a version of this package that does not know of copies.
    if (type === 'retire') void resign()
  })
  process.once('disconnect', () => void resign())
  sendToPrimary({ type: 'candidate' })
}

copies.all.add({ endTasks, isCandidate: () => state === 'candidate' || state === 'leader' })

/** Whether this process has tasks that the primary knows of. */
export function isCandidate(): boolean {
  return [...copies.all].some((copy) => copy.isCandidate())
}

/** Ends the tasks of this process, and resolves when they have ended. */
export function resign(): Promise<void> {
  return (copies.resigned ??= endAllTasks())
}

async function endAllTasks(): Promise<void> {
  await Promise.all([...copies.all].map((copy) => copy.endTasks()))
  if (isCandidate()) sendToPrimary({ type: 'resigned' })
}

function endTasks(): Promise<unknown> {
  leaving.abort()
  // Until the stack of an error is read, V8 retains the receivers of its functions: a server, and with it the app.
  void (leaving.signal.reason as Error).stack
  return Promise.allSettled(running)
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
