import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import getPort from 'get-port'
import { SpeedBoundsError } from '../errors.ts'
import type { ResolvedSubject } from '../options/resolve.ts'
import { besideThis } from '../sibling-module.ts'
import { listTree, signalTree } from './process-tree.ts'
import { request } from 'undici'
import type { WardenReport, WardenRequest } from './supervisor-process.ts'

const HOST = '127.0.0.1'
const RETRY = 15 // ms between two tries to reach a subject that starts

/** A subject's process that answers over HTTP. */
export interface RunningSubject {
  readonly subject: ResolvedSubject
  readonly pid: number
  readonly origin: string
  /** Aborts, with the error as its reason, when the process ends unasked. */
  readonly died: AbortSignal
  /** Rejects with that error. */
  readonly untilDeath: Promise<never>
  /** Stops the whole process tree (SIGSTOP) until it is resumed or ended. Where there are no such signals, nothing happens. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Ends the whole process tree: SIGTERM first, SIGKILL after the timeout. */
  stop(): Promise<void>
}

/** How long a subject may take to answer and to end, in milliseconds, and what makes its start pointless. */
interface StartLimits {
  readonly startTimeout: number
  readonly stopTimeout: number
  readonly signal: AbortSignal
}

/** Starts subjects, and ends all of them when it is closed or when this process goes away. */
export interface Warden {
  start(subject: ResolvedSubject, limits: StartLimits): Promise<RunningSubject>
  close(): Promise<void>
}

export async function openWarden(): Promise<Warden> {
  const warden = fork(besideThis('./supervisor-process', import.meta.url), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  })
  await once(warden, 'spawn')
  const reports = new ReportBoard(warden)
  const running = new Set<RunningSubject>()
  let started = 0
  return {
    async start(subject, limits) {
      limits.signal.throwIfAborted()
      const id = String(started++)
      const run = await startSubject(reports, id, subject, limits)
      running.add(run)
      return run
    },
    async close() {
      await Promise.all([...running].map((run) => run.stop()))
      if (warden.exitCode !== null || warden.signalCode !== null) return
      const exited = once(warden, 'exit')
      reports.close()
      if (warden.connected) warden.disconnect()
      await exited
    },
  }
}

async function startSubject(
  reports: ReportBoard,
  id: string,
  subject: ResolvedSubject,
  { startTimeout, stopTimeout, signal }: StartLimits,
): Promise<RunningSubject> {
  const port = await getPort({ host: HOST })
  const fill = (text: string): string => text.replaceAll('{host}', HOST).replaceAll('{port}', String(port))
  const [program, ...args] = subject.command
  const death = new AbortController()
  const untilDeath = new Promise<never>((_, reject) => {
    death.signal.addEventListener('abort', () => reject(death.signal.reason as Error), { once: true })
  })
  untilDeath.catch(() => {})
  let stopping = false
  reports.on(id, 'exited', ({ status, stderr }) => {
    if (!stopping) death.abort(endedBy(subject, status, stderr))
  })
  reports.onLost((error) => death.abort(error))
  const started = reports.next(id, 'started', 'failed')
  reports.send({
    type: 'start',
    id,
    command: [fill(program), ...args.map(fill)],
    env: { ...surroundings(), NODE_ENV: 'production', HOST, PORT: String(port), ...subject.env },
    cwd: subject.cwd,
  })
  const answer = await started
  if (answer.type === 'failed') {
    throw new SpeedBoundsError(
      'SPEED_BOUNDS_SUBJECT_NOT_STARTED',
      `${subject.name} (${subject.label}) could not be started: ${answer.message}`,
    )
  }
  const run: RunningSubject = {
    subject,
    pid: answer.pid,
    origin: `http://${HOST}:${port}`,
    died: death.signal,
    untilDeath,
    async pause() {
      // Again for processes that it started while its others were being looked for.
      for (let pass = 0; pass < 2; pass++) await signalAll(run.pid, 'SIGSTOP')
    },
    resume: () => signalAll(run.pid, 'SIGCONT'),
    async stop() {
      if (stopping) return
      stopping = true
      const stopped = reports.next(id, 'stopped')
      reports.send({ type: 'stop', id, timeout: stopTimeout })
      // A lost warden has been reported already, and took care of its subjects in `onLost`.
      await stopped.catch(() => {})
    },
  }
  reports.onLost(() => endWithoutWarden(run.pid))
  try {
    await untilItAnswers(reports, id, run, startTimeout, signal)
  } catch (error) {
    await run.stop()
    throw error
  }
  return run
}

async function signalAll(root: number, name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  if (process.platform !== 'win32') signalTree(root, await listTree(root), name)
}

async function untilItAnswers(
  reports: ReportBoard,
  id: string,
  run: RunningSubject,
  timeout: number,
  aborted: AbortSignal,
): Promise<void> {
  const { subject } = run
  const deadline = performance.now() + timeout
  let lastTry = ''
  while (!run.died.aborted && !aborted.aborted && performance.now() < deadline) {
    const left = Math.max(1, Math.ceil(deadline - performance.now()))
    try {
      const signal = AbortSignal.any([run.died, aborted, AbortSignal.timeout(left)])
      const response = await request(run.origin, { signal, headersTimeout: left, reset: true })
      await response.body.dump()
      break
    } catch (error) {
      lastTry = (error as Error).message
      await new Promise((resolve) => setTimeout(resolve, RETRY))
    }
  }
  aborted.throwIfAborted()
  // Whoever answered at this port, it was not a subject that is gone.
  if (run.died.aborted) {
    const { message } = run.died.reason as Error
    if (run.died.reason instanceof SpeedBoundsError && run.died.reason.code !== 'SPEED_BOUNDS_SUBJECT_DIED')
      throw run.died.reason
    const taken = /EADDRINUSE|address already in use/i.test(message)
    throw taken
      ? new SpeedBoundsError(
          'SPEED_BOUNDS_PORT_TAKEN',
          `${message}\nIt was given PORT=${new URL(run.origin).port}, which was free. Does it listen on a port of its own choice? It must read HOST and PORT.`,
        )
      : new SpeedBoundsError('SPEED_BOUNDS_SUBJECT_NOT_STARTED', `${message}\nIt never answered at ${run.origin}.`)
  }
  if (performance.now() >= deadline) {
    const tail = reports.next(id, 'tail')
    reports.send({ type: 'tail', id })
    const { stderr } = await tail
    throw new SpeedBoundsError(
      'SPEED_BOUNDS_SUBJECT_NOT_READY',
      `${subject.name} (${subject.label}) did not answer at ${run.origin} within ${timeout} ms (last try: ${lastTry}). A subject must listen on HOST and PORT from its environment.${quote(stderr)}`,
    )
  }
}

function endedBy(subject: ResolvedSubject, status: string, stderr: string): SpeedBoundsError {
  return new SpeedBoundsError(
    'SPEED_BOUNDS_SUBJECT_DIED',
    `${subject.name} (${subject.label}) ended ${status}.${quote(stderr)}`,
  )
}

function quote(stderr: string): string {
  const text = stderr.trimEnd()
  if (text === '') return '\nIt wrote nothing to stderr.'
  return `\nIts stderr ends with:\n${text.replaceAll(/^/gm, '  | ')}`
}

/** This process's environment without what a test runner added for its own workers. */
function surroundings(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$|TINYPOOL|NODE_CHANNEL_)/.test(name))
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function endWithoutWarden(pid: number): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

type ReportOf<T extends WardenReport['type']> = Extract<WardenReport, { type: T }>

/** Hands each report of the warden to who waits for it. */
class ReportBoard {
  readonly #warden: ChildProcess
  readonly #listeners = new Map<string, ((report: never) => void)[]>()
  readonly #onLost = new Set<(error: SpeedBoundsError) => void>()
  #lost: SpeedBoundsError | undefined

  constructor(warden: ChildProcess) {
    this.#warden = warden
    warden.on('message', (report: WardenReport) => {
      for (const listener of this.#listeners.get(`${report.id} ${report.type}`) ?? []) listener(report as never)
    })
    warden.once('exit', (code, signal) => {
      const error = new SpeedBoundsError(
        'SPEED_BOUNDS_WARDEN_LOST',
        `The process that watches over the subjects ended unasked (${signal ?? `code ${code}`}).`,
      )
      this.#lost = error
      for (const tell of this.#onLost) tell(error)
    })
  }

  on<T extends WardenReport['type']>(id: string, type: T, listener: (report: ReportOf<T>) => void): void {
    const key = `${id} ${type}`
    this.#listeners.set(key, [...(this.#listeners.get(key) ?? []), listener])
  }

  next<T extends WardenReport['type']>(id: string, ...types: T[]): Promise<ReportOf<T>> {
    return new Promise((resolve, reject) => {
      for (const type of types) this.on(id, type, resolve)
      this.onLost(reject)
    })
  }

  onLost(listener: (error: SpeedBoundsError) => void): void {
    if (this.#lost) listener(this.#lost)
    else this.#onLost.add(listener)
  }

  /** From here on the end of the warden is no loss. */
  close(): void {
    this.#onLost.clear()
  }

  send(order: WardenRequest): void {
    // A warden that is going away is reported by its exit.
    if (this.#warden.connected) this.#warden.send(order, () => {})
  }
}
