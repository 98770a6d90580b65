import type { AppModule } from './import-app.ts'

/** Maximum number of names in a description. */
const MAX_NAMES = 5

/**
 * Describes the default export of a module.
 *
 * @param made what it returned, or the default export itself
 */
export function describeDefault({ default: exported, names = [] }: AppModule, made: unknown): string {
  if (exported === undefined) return `it has no default export${names.length > 0 ? `, only ${listed(names)}` : ''}`
  const isCalled = typeof exported === 'function' && exported !== made
  return `its default export ${isCalled ? 'returned' : 'is'} ${describe(made)}`
}

/** Describes a value in words, without any of its values, which may be secret. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'function')
    return isClass(value) ? (value.name ? `class ${value.name}` : 'a class') : 'a function'
  return typeof value === 'object' ? describeObject(value) : typeof value
}

/** Whether a function can only be called with `new`. */
export function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}

/** Names in one line, without those that could be data. */
function listed(names: readonly string[]): string {
  const plain = names.filter((name) => /^[\w$]{1,40}$/.test(name))
  return [...plain.slice(0, MAX_NAMES), ...(names.length > Math.min(plain.length, MAX_NAMES) ? ['…'] : [])].join(', ')
}

function describeObject(value: object): string {
  const { constructor } = value as { constructor?: unknown }
  if (typeof constructor === 'function' && constructor !== Object && constructor.name !== '')
    return `an instance of ${constructor.name}`
  const keys = Object.keys(value)
  if (keys.length === 0) return 'an empty object'
  return `an object with the key${keys.length === 1 ? '' : 's'} ${listed(keys)}`
}
