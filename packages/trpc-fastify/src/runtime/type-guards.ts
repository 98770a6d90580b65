// The kinds of values that tRPC distinguishes, by its own rules.

/** Neither an array nor null. */
export function isObject(value: unknown): value is object {
  return !!value && !Array.isArray(value) && typeof value === 'object'
}

/** Created by a literal or `Object.create(null)`, in any realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (Object.prototype.toString.call(value) !== '[object Object]') return false
  const { constructor } = value as { constructor?: unknown }
  if (constructor === undefined) return true
  const prototype: unknown = (constructor as { prototype?: unknown }).prototype
  return typeof prototype === 'object' && prototype !== null && Object.hasOwn(prototype, 'isPrototypeOf')
}

export function isPromise(value: unknown): value is Promise<unknown> {
  if (typeof value !== 'function' && !isObject(value)) return false
  const { then, catch: rescue } = value as { then?: unknown; catch?: unknown }
  return typeof then === 'function' && typeof rescue === 'function'
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && Symbol.asyncIterator in value
}

/** Only a streamed response can have such a value. */
export function isStreamed(value: unknown): boolean {
  return isAsyncIterable(value) || isPromise(value)
}
