import { reasonOf } from 'checked-options'
import { type ClusteredServerError, type ClusteredServerErrorCode, errorCodes } from '../errors.ts'
import { lateText } from '../app/listen-hook.ts'
import type { FailedStart, Missing, ThrownError } from '../ipc/messages.ts'
import type { WorkerExit } from '../server-types.ts'

/** How far the start of a worker has come, and why it failed. */
export class StartProgress {
  readonly #readyPath: string | undefined
  readonly #timeout: number
  #missing: Missing = { what: 'its app was not loaded' }
  /** Whether the app has not responded to the request to `readyPath` yet. */
  #isChecking = false
  #code: ClusteredServerErrorCode = 'CLUSTERED_SERVER_START_FAILED'
  /** With the stack of an error in the app's code. */
  #failure: string | undefined
  /** The failure in one line. */
  #reason: string | undefined
  #cause: Error | undefined

  constructor(readyPath: string | undefined, timeout: number) {
    this.#readyPath = readyPath
    this.#timeout = timeout
  }

  /** Why the worker did not start, if known. */
  get failure(): string | undefined {
    return this.#failure
  }

  waitFor(missing: Missing): void {
    this.#missing = missing
  }

  startCheck(): void {
    this.#isChecking = true
  }

  finishLoading(): void {
    this.#isChecking = false
    this.#missing = { what: 'it accepted no connections' }
  }

  fail({ message, code, cause, isThrown }: FailedStart): void {
    this.#cause = cause && errorFrom(cause)
    this.#code = code ?? this.#code
    const thrown = isThrown ? this.#cause : undefined
    this.#failure = thrown?.stack ?? message
    this.#reason = thrown ? `${thrown.name}: ${reasonOf(thrown)}` : reasonOf(message)
  }

  failLate(): void {
    const what = `its app did not respond to GET ${this.#readyPath}`
    this.#failure = lateText(this.#isChecking ? { what } : this.#missing, this.#timeout)
    this.#reason = this.#failure
    this.#cause = undefined
  }

  /** The error of a worker that has ended before it had started. */
  errorOf(id: number, { code, signal }: Partial<WorkerExit>): ClusteredServerError {
    const during = this.#isChecking ? ` during GET ${this.#readyPath}` : ''
    const reason = this.#reason ?? `its process ended ${signal ? `by ${signal}` : `with code ${code}`}${during}`
    return new errorCodes[this.#code](`Worker ${id} did not start: ${reason}`, this.#cause && { cause: this.#cause })
  }
}

/** The error of another process. */
function errorFrom({ message, ...properties }: ThrownError): Error {
  const error = new Error(message)
  for (const [name, value] of Object.entries(properties)) {
    if (value !== undefined) Object.defineProperty(error, name, { value, configurable: true, writable: true })
  }
  return error
}
