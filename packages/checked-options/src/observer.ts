// Observers: objects of callbacks that a user gives as an option. A mistyped callback would never be called, and one that
// throws must break nothing.

import * as v from 'valibot'
import { isRecord, saying } from './expectation.ts'
import { renamed as renamedTo, unexpected, unknown } from './message.ts'
import type { Schema } from './schema.ts'

/**
 * An object with some of these methods. Other functions of the object itself are refused, as mistyped names; other
 * properties, and methods of its class, are its own affair.
 *
 * @param renamed - old names of methods, and their new names
 */
export function observer<T extends object>(
  methods: readonly (keyof T & string)[],
  renamed: Readonly<Record<string, string>> = {},
): Schema<T> {
  const expected =
    methods.length === 1 ? `an object with the function ${methods[0]}` : `an object with any of ${methods.join(', ')}`
  return v.pipe(
    v.custom<T>(isRecord, saying(expected)),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const input = dataset.value as Record<string, unknown>
      const refuse = (key: string, message: string): void =>
        addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value: input[key] }] })
      const wrong = methods.find((name) => input[name] !== undefined && typeof input[name] !== 'function')
      if (wrong !== undefined) return refuse(wrong, unexpected('a function', input[wrong]))
      const other = Object.keys(input).find(
        (name) => typeof input[name] === 'function' && !methods.includes(name as keyof T & string),
      )
      if (other !== undefined) {
        return refuse(other, Object.hasOwn(renamed, other) ? renamedTo(renamed[other]!) : unknown(other, methods))
      }
      if (!methods.some((name) => input[name] !== undefined)) addIssue({ message: unexpected(expected, input) })
    }),
    v.metadata({ expected }),
  )
}

/** The used method of a logger. */
export interface ErrorLog {
  error(fields: object, message: string): void
}

/**
 * Logs the errors of observers: the first one of each method, because a faulty observer may throw for each request.
 *
 * @example
 * const faults = new ObserverFaults(app.log)
 * try {
 *   faults.watch(0, 'callEnded', observers[0].callEnded?.(call))
 * } catch (error) {
 *   faults.report(0, 'callEnded', error)
 * }
 */
export class ObserverFaults {
  readonly #log: ErrorLog
  readonly #known = new Set<string>()

  constructor(log: ErrorLog) {
    this.#log = log
  }

  /** Reports an error that a method has thrown. */
  report(index: number, method: string, err: unknown): void {
    const name = `observers[${index}].${method}`
    if (this.#known.has(name)) return
    this.#known.add(name)
    this.#log.error({ err, observer: name }, 'observer threw; further errors of this method are not logged')
  }

  /** Reports a rejection of the promise that an asynchronous method has returned. It would end the process. */
  watch(index: number, method: string, returned: unknown): void {
    if (returned instanceof Promise) returned.catch((error: unknown) => this.report(index, method, error))
  }
}
