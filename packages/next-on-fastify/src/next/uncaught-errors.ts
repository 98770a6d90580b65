// Next's listeners for uncaught errors only log. A start that fails would then end the process with exit code 0, and
// never in `dev`. Until the app listens, these listeners are removed, so Node ends the process with exit code 1.

import { sep } from 'node:path'
import { getCallSites } from 'node:util'

const UNCAUGHT = 'uncaughtException'
const REJECTION = 'unhandledRejection'

/** Next's wrapper of `process.on()`, which also calls of other libraries pass. */
const WRAPPER = `${sep}unhandled-rejection.`
/** Number of calls between a listener and the code that adds it, with those of Node and of the wrapper. */
const CALLS = 10

/** The listeners for uncaught errors that Next has added during its start. */
export interface NextListeners {
  /** Removes them, and collects no more. */
  remove(): void
  /** Removes them, and leaves unhandled rejections to Node as well. */
  removeAfterFailure(): void
  /** Adds them again. */
  restore(): void
}

/** Collects listeners that the copy of Next in a folder adds. Listeners of `instrumentation` are left alone. */
export function collectNextListeners(folder: string): NextListeners {
  const listeners: NodeJS.UncaughtExceptionListener[] = []
  const handlesRejections = process.listenerCount(REJECTION) > 0
  let areRemoved = false
  const collect = (event: string | symbol, listener: unknown): void => {
    if (event === UNCAUGHT && isCalledFrom(folder)) listeners.push(listener as NodeJS.UncaughtExceptionListener)
  }
  process.on('newListener', collect)
  const remove = (): void => {
    process.off('newListener', collect)
    areRemoved = true
    for (const listener of listeners) process.off(UNCAUGHT, listener)
  }
  return {
    remove,
    removeAfterFailure() {
      remove()
      // Next's filter for rejections logs a long warning if it is removed.
      if (!handlesRejections) process.on(REJECTION, rethrow)
    },
    restore() {
      if (!areRemoved) return
      areRemoved = false
      const present = new Set(process.listeners(UNCAUGHT))
      for (const listener of listeners) if (!present.has(listener)) process.on(UNCAUGHT, listener)
    },
  }
}

function isCalledFrom(folder: string): boolean {
  const calls = getCallSites(CALLS, { sourceMap: false })
  // Node's function that emits `newListener`. Tools may wrap `process.emit()`, whose calls come first.
  const adding = calls.findIndex(({ functionName }) => functionName === '_addListener')
  const files = calls.slice(adding).map(({ scriptName }) => scriptName)
  const file = files.find((name) => !name.startsWith('node:') && !name.includes(WRAPPER))
  return file?.startsWith(folder + sep) ?? false
}

function rethrow(reason: unknown): never {
  throw reason
}
