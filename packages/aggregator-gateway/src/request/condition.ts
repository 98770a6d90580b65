// Conditions of a call: `{query.details}`, `!{calls.profile.isClosed}`, `{ value: '{claims.role}', in: ['admin'] }`. Each is
// about one value, so it depends on the request or on a call, and never fails: a missing value is `null`.

import type { Condition, ConditionValue } from '../options/call-options.ts'
import { isRawJson, namesOf, parsePlaceholders, type Placeholder, valueAt, type Values } from './placeholders.ts'

export interface PlannedCondition {
  /** Names of the calls whose responses it needs. */
  readonly calls: readonly string[]
  readonly placeholders: readonly Placeholder[]
  /** Whether the conditions on the client's request hold. */
  readonly holdsForRequest: (values: Values) => boolean
  /** Whether the conditions on responses hold, once they are there. */
  readonly holdsForCalls: (values: Values) => boolean
}

interface Clause {
  readonly placeholder: Placeholder
  readonly test: (text: string | null) => boolean
}

/** Parses conditions, all of which must hold. `reject` throws. */
export function parseConditions(
  conditions: Condition | readonly Condition[],
  reject: (problem: string) => never,
): PlannedCondition {
  const clauses = [conditions]
    .flat<readonly (Condition | readonly Condition[])[]>()
    .map((one) => parseClause(one, reject))
  const ofCalls = clauses.filter(({ placeholder }) => placeholder.isOfCall)
  const ofRequest = clauses.filter(({ placeholder }) => !placeholder.isOfCall)
  const placeholders = clauses.map(({ placeholder }) => placeholder)
  return {
    calls: namesOf(placeholders, 'calls'),
    placeholders,
    holdsForRequest: (values) => ofRequest.every((clause) => holds(clause, values)),
    holdsForCalls: (values) => ofCalls.every((clause) => holds(clause, values)),
  }
}

function parseClause(condition: Condition, reject: (problem: string) => never): Clause {
  if (typeof condition === 'string') {
    const isThere = !condition.startsWith('!')
    return { placeholder: placeholderOf(condition, reject), test: (text) => ABSENT.includes(text) !== isThere }
  }
  const { value, in: some, notIn: none } = condition
  if ((some === undefined) === (none === undefined)) reject('it needs either `in` or `notIn`')
  const texts = (some ?? none)!.map(textOf)
  return { placeholder: placeholderOf(value, reject), test: (text) => texts.includes(text) === (some !== undefined) }
}

/** Values that are not there, as text. */
const ABSENT: readonly (string | null)[] = [null, '', 'false']

function placeholderOf(text: string, reject: (problem: string) => never): Placeholder {
  return parsePlaceholders(text.replace('!', ''), reject).placeholders[0]!
}

function holds({ placeholder, test }: Clause, values: Values): boolean {
  const value = valueAt(placeholder, values)
  // An object equals no text, but it is there.
  if (typeof value === 'object' && value !== null) return test(isRawJson(value) ? value.rawJSON : '[object]')
  return test(textOf(value as ConditionValue | undefined))
}

function textOf(value: ConditionValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value)
}
