import { withoutFrames } from './stack-frames.ts'

/** A copy of a value that `toEqual` can compare, taken at once: what is mutated later does not change it. */
export function describeValue(value: unknown, around: readonly unknown[] = []): unknown {
  switch (typeof value) {
    case 'undefined':
    case 'symbol':
    case 'bigint':
      return `<${typeof value} ${String(value)}>`
    case 'function':
      return '<function>'
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : `<number ${Object.is(value, -0) ? '-0' : value}>`
    case 'object':
      return value === null || around.includes(value)
        ? value && '<circular>'
        : describeObject(value, [...around, value])
    default:
      return value
  }
}

function describeObject(value: object, around: readonly unknown[]): unknown {
  const inner = (part: unknown): unknown => describeValue(part, around)
  if (value instanceof Error) return describeError(value, inner)
  if (value instanceof AbortSignal) return `<AbortSignal aborted=${value.aborted}>`
  if (value instanceof URL) return `<URL ${value.href.replace(/^(https?:\/\/[^/]*):\d+\//, '$1/')}>`
  if (value instanceof Promise) return '<Promise>'
  if (value instanceof Date) return `<Date ${value.getTime()}>`
  if (value instanceof Map || value instanceof Set || value instanceof Headers || value instanceof FormData) {
    return { [value.constructor.name]: [...value].map(inner) }
  }
  if (value instanceof Blob || value instanceof ReadableStream) return `<${value.constructor.name}>`
  if ('raw' in value && 'request' in value) return '<FastifyReply>'
  // tRPC's adapter leaves the body in the raw request, where users may read it.
  if ('raw' in value && 'params' in value) return { FastifyRequest: inner((value.raw as { body?: unknown }).body) }
  if (Array.isArray(value)) return value.map(inner)
  // Entries, not an object: a key may be `__proto__`.
  const entries = Object.keys(value).map((key) => {
    const part = (value as Record<string, unknown>)[key]
    return [key, key === 'stack' && typeof part === 'string' ? withoutFrames(part) : inner(part)] as const
  })
  return entries.some(([key]) => key === '__proto__') ? { entries } : Object.fromEntries(entries)
}

function describeError(error: Error, inner: (part: unknown) => unknown): unknown {
  const { name, message, cause, stack } = error
  return {
    class: error.constructor.name,
    name,
    message,
    cause: inner(cause),
    stack: stack && withoutFrames(stack),
    ...Object.fromEntries(Object.entries(error).map(([key, part]) => [key, key === 'stack' ? undefined : inner(part)])),
  }
}
