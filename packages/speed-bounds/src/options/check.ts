import { inspect } from 'node:util'
import { SpeedBoundsError } from '../errors.ts'
import type { Answer, Progress } from './types.ts'

/** Throws the one error of this file: what was expected, and what came. */
export function demand(holds: boolean, name: string, expected: string, got: unknown): asserts holds {
  if (holds) return
  const kind = got === null ? 'null' : Array.isArray(got) ? 'array' : typeof got
  throw new SpeedBoundsError(
    'SPEED_BOUNDS_INVALID_OPTION',
    `Expected \`${name}\` to be ${expected}, got ${show(got).slice(0, 200)} (${kind})`,
  )
}

function show(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value === 'number' || typeof value === 'bigint' || value === undefined) return String(value)
  try {
    return JSON.stringify(value) ?? inspect(value)
  } catch {
    // It holds itself, or a bigint.
    return inspect(value, { depth: 1 })
  }
}

export function optional<T>(
  value: unknown,
  name: string,
  is: (value: unknown) => value is T,
  expected: string,
): T | undefined {
  if (value === undefined) return undefined
  demand(is(value), name, expected, value)
  return value
}

export function onlyKeys(name: string, value: object, keys: readonly string[]): void {
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  demand(unknown === undefined, name, `an object with no other keys than ${keys.join(', ')}`, unknown)
}

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
export const isProgressListener = (value: unknown): value is (progress: Progress) => void => typeof value === 'function'
export const isNormaliser = (value: unknown): value is (answer: Answer) => Answer => typeof value === 'function'
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof URL)
export const isSignal = (value: unknown): value is AbortSignal => value instanceof AbortSignal
export const isString = (value: unknown): value is string => typeof value === 'string'
export const isLocalFile = (value: unknown): value is URL =>
  value instanceof URL && value.protocol === 'file:' && (value.host === '' || process.platform === 'win32')
export const isStatus = (value: unknown): value is number => isInteger(value) && value >= 100 && value <= 599
export const isTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((entry) => typeof entry === 'string')
export const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string')
export const isProgram = (value: unknown): value is [string, ...string[]] => isTextList(value) && value.length > 0
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
export const isPositive = (value: unknown): value is number => isNumber(value) && value > 0
export const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)
export const isAtLeast =
  (least: number) =>
  (value: unknown): value is number =>
    isNumber(value) && value >= least
export const isCountFrom =
  (least: number) =>
  (value: unknown): value is number =>
    isInteger(value) && value >= least
export const isCount: (value: unknown) => value is number = isCountFrom(1)
/** What timers take: 2^31 - 1 ms is the longest. */
export const isMilliseconds =
  (least: number) =>
  (value: unknown): value is number =>
    isInteger(value) && value >= least && value < 2 ** 31
export const isPollInterval = (value: unknown): value is number => isInteger(value) && value >= 0 && value <= 1000
export const isShare = (value: unknown): value is number => isNumber(value) && value >= 0 && value <= 1
export const isAlpha = (value: unknown): value is number => isNumber(value) && value > 0 && value <= 0.2
export const isOneOf =
  <T extends string>(names: readonly T[]) =>
  (value: unknown): value is T =>
    names.includes(value as T)
