import * as v from 'valibot'
import { fault } from './message.ts'
import type { Schema } from './schema.ts'

/**
 * Checks options, and returns them with their defaults. The given object is not changed.
 *
 * @param fail makes the error that is thrown, from a message of one line.
 * @example
 * const { workers } = checkOptions(schema, options, (message) => new TypeError(message))
 */
export function checkOptions<TInput, TOutput>(
  schema: Schema<TInput, TOutput>,
  options: unknown,
  fail: (message: string) => Error,
): TOutput {
  const result = v.safeParse(schema, options, { abortEarly: true, abortPipeEarly: true })
  if (result.success) return result.output
  const { keys, message } = faultIn(result.issues[0])
  throw fail(fault(nameOf(keys), message))
}

interface Fault {
  keys: readonly unknown[]
  message: string
}

function faultIn({ path, message, issues }: v.BaseIssue<unknown>): Fault {
  const keys = path?.map(({ key }) => key) ?? []
  // Where a value is none of several kinds, a fault inside of it says more.
  const inner = issues?.map((issue) => faultIn(issue)).find((one) => one.keys.length > 0)
  return inner === undefined ? { keys, message } : { keys: [...keys, ...inner.keys], message: inner.message }
}

/** `endpoints[0].calls.user`, or `env["x-y"]` for a name that is no identifier. */
function nameOf(keys: readonly unknown[]): string {
  return keys.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`
    const text = String(key)
    if (!/^[\w$-]+$/.test(text)) return `${name}[${JSON.stringify(text)}]`
    return name === '' ? text : `${name}.${text}`
  }, '')
}
