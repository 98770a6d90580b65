import { closestMatch } from 'leven'

/** Longer strings are cut in messages. */
const MAX_SHOWN = 100

/**
 * The message of an invalid option, in one line, for a rule between options that a schema does not know.
 *
 * @example
 * invalidOption('workers', 'an integer of at least 1', 0)
 * // Invalid option "workers": expected an integer of at least 1, got 0.
 */
export function invalidOption(name: string, expected: string, got: unknown): string {
  return fault(name, unexpected(expected, got))
}

/** A fault of an option, or of all options where the name is empty. */
export function fault(name: string, text: string): string {
  return name === '' ? `Invalid options: ${text}` : `Invalid option "${name}": ${text}`
}

export function unexpected(expected: string, got: unknown): string {
  return `expected ${expected}, got ${shown(got)}.`
}

export function unknown(name: string, known: readonly string[]): string {
  const meant = closestMatch(name, known, { maxDistance: mostWrong(name) })
  if (meant !== undefined) return `unknown. Did you mean "${meant}"?`
  return known.length > 0 ? `unknown. Known here: ${known.join(', ')}.` : 'unknown. No option is known here.'
}

/** A required option that is missing, and the unknown name that the user may have given it. */
export function missing(name: string, expected: string, others: readonly string[]): string {
  const typed = closestMatch(name, others, { maxDistance: mostWrong(name) })
  const hint = typed === undefined ? '' : ` "${typed}" is unknown. Did you mean "${name}"?`
  return `${unexpected(expected, undefined)}${hint}`
}

/** How many letters of a name may be wrong: two of ten. Two letters of a short name would suggest `cdn` for `conf`. */
function mostWrong({ length }: string): number {
  return length < 5 ? 1 : Math.max(2, Math.floor(length / 5))
}

/** An old name: its new one, or a sentence of advice. */
export function renamed(advice: string): string {
  return /^[\w.]+$/.test(advice) ? `renamed to "${advice}".` : advice
}

/** An old value of an option, and the current one. */
export function renamedValue(old: unknown, current: unknown): string {
  return `the value ${shown(old)} is ${shown(current)} now.`
}

function shown(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || ['number', 'boolean', 'undefined'].includes(typeof value)) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (typeof value !== 'object') return `a ${typeof value}`
  const { name } = (Object.getPrototypeOf(value) as object | null)?.constructor ?? { name: '' }
  return name === '' || name === 'Object' ? 'an object' : `an instance of ${name}`
}
