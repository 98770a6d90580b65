import { assertOption } from './check.ts'
import type { ResolvedCase } from './resolved.ts'
import type { CheckedCaseOptions, CheckedRaceOptions } from './schema.ts'
import type { CaseOptions, ComparedResponse, RaceOptions } from './types.ts'

/** Options of a single request, which do not go with `cases`. */
const CASE_KEYS = [
  'path',
  'method',
  'headers',
  'body',
  'compareHeaders',
  'expect',
  'normalize',
  'maxErrorRate',
] as const satisfies readonly (keyof CaseOptions)[]

/** The cases of a race: those of `cases`, or the single one. `given` are the options without defaults. */
export function resolveCases(
  options: CheckedRaceOptions,
  given: RaceOptions,
  subjects: readonly string[],
): ResolvedCase[] {
  const { cases, path } = options
  if (cases === undefined) {
    assertOption(path !== undefined, 'path', 'a path, or "cases"', path)
    const testCase = { ...options, path }
    assertSubjects(testCase, 'maxErrorRate', subjects)
    return [resolveCase(`${testCase.method.toUpperCase()} ${path}`, testCase)]
  }
  const entries = Object.entries(cases)
  assertOption(entries.length > 0, 'cases', 'at least one case', 0)
  const conflict = CASE_KEYS.find((key) => key in given)
  assertOption(conflict === undefined, 'cases', `either "cases" or "${conflict}"`, 'both')
  return entries.map(([name, testCase]) => {
    assertSubjects(testCase, `cases.${name}.maxErrorRate`, subjects)
    return resolveCase(name, testCase)
  })
}

function resolveCase(name: string, options: CheckedCaseOptions): ResolvedCase {
  const { path, method, headers, body, compareHeaders, expect, normalize, maxErrorRate } = options
  const expected = expect && withLowerCaseHeaders(expect)
  const compared = [...compareHeaders, ...Object.keys(expected?.headers ?? {})]
  return {
    name,
    path,
    method: method.toUpperCase(),
    headers,
    body,
    compareHeaders: [...new Set(compared.map((header) => header.toLowerCase()))],
    expect: expected,
    normalize,
    maxErrorRate,
  }
}

function assertSubjects({ maxErrorRate }: CheckedCaseOptions, name: string, subjects: readonly string[]): void {
  if (typeof maxErrorRate === 'number') return
  const unknown = Object.keys(maxErrorRate).find((subject) => !subjects.includes(subject))
  assertOption(unknown === undefined, name, `rates of ${subjects.join(', ')}`, unknown)
}

function withLowerCaseHeaders({ status, headers, body }: Partial<ComparedResponse>): Partial<ComparedResponse> {
  return {
    ...(status === undefined ? {} : { status }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])) }),
    ...(body === undefined ? {} : { body }),
  }
}
