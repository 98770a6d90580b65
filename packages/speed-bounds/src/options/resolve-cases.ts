import {
  demand,
  optional,
  onlyKeys,
  isText,
  isNormaliser,
  isRecord,
  isString,
  isStatus,
  isTexts,
  isTextList,
  isShare,
} from './check.ts'
import type { ResolvedCase } from './resolved.ts'
import type { Answer, RaceOptions } from './types.ts'

export const CASE_KEYS: readonly string[] = [
  'path',
  'method',
  'headers',
  'body',
  'compareHeaders',
  'expect',
  'normalise',
  'allowance',
]
const SHARE = 'a share from 0 to 1'

export function resolveCases(options: RaceOptions, subjects: readonly string[]): ResolvedCase[] {
  const { cases } = options
  if (cases === undefined) {
    demand(options.path !== undefined, 'path', 'the path to request, or `cases`', options.path)
    const own = Object.entries(options).filter(([key, value]) => CASE_KEYS.includes(key) && value !== undefined)
    return [resolveCase(undefined, '', Object.fromEntries(own), subjects)]
  }
  demand(isRecord(cases) && Object.keys(cases).length > 0, 'cases', 'an object of cases by name', cases)
  const doubled = CASE_KEYS.filter((key) => key in options)
  demand(doubled.length === 0, 'cases', `either \`cases\` or \`${doubled[0]}\`, not both`, Object.keys(cases))
  return Object.entries(cases).map(([name, value]) => {
    demand(isRecord(value), `cases.${name}`, 'an object with `path`', value)
    onlyKeys(`cases.${name}`, value, CASE_KEYS)
    return resolveCase(name, `cases.${name}.`, value, subjects)
  })
}

function resolveCase(
  name: string | undefined,
  at: string,
  options: Record<string, unknown>,
  subjects: readonly string[],
): ResolvedCase {
  const { path } = options
  demand(isText(path) && path.startsWith('/'), `${at}path`, 'a path that starts with /', path)
  const method = (optional(options['method'], `${at}method`, isText, 'an HTTP method') ?? 'GET').toUpperCase()
  const headers = optional(options['compareHeaders'], `${at}compareHeaders`, isTextList, 'an array of header names')
  const expect = resolveExpected(options['expect'], `${at}expect`)
  const compared = [...(headers ?? ['content-type']), ...Object.keys(expect?.headers ?? {})]
  return {
    name: name ?? `${method} ${path}`,
    path,
    method,
    headers: optional(options['headers'], `${at}headers`, isTexts, 'an object of strings') ?? {},
    body: optional(options['body'], `${at}body`, isString, 'a string'),
    compareHeaders: [...new Set(compared.map((header) => header.toLowerCase()))],
    expect,
    normalise: optional(options['normalise'], `${at}normalise`, isNormaliser, 'a function'),
    allowance: resolveAllowance(options['allowance'], `${at}allowance`, subjects),
  }
}

function resolveAllowance(value: unknown, at: string, subjects: readonly string[]): ResolvedCase['allowance'] {
  if (!isRecord(value)) return optional(value, at, isShare, `${SHARE}, or an object of them by subject`) ?? 0
  onlyKeys(at, value, subjects)
  const shares = Object.entries(value).map(([name, share]) => [
    name,
    optional(share, `${at}.${name}`, isShare, SHARE) ?? 0,
  ])
  return Object.fromEntries(shares) as Record<string, number>
}

function resolveExpected(value: unknown, at: string): Partial<Answer> | undefined {
  const expected = optional(value, at, isRecord, 'an object of status, headers, body')
  if (!expected) return undefined
  onlyKeys(at, expected, ['status', 'headers', 'body'])
  const status = optional(expected['status'], `${at}.status`, isStatus, 'an HTTP status')
  const headers = optional(expected['headers'], `${at}.headers`, isTexts, 'an object of strings')
  const body = optional(expected['body'], `${at}.body`, isString, 'a string')
  return {
    ...(status === undefined ? {} : { status }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text])) }),
    ...(body === undefined ? {} : { body }),
  }
}
