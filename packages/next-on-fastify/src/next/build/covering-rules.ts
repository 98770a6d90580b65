// Finds rules with conditions that cover the whole app. Their condition decides about each response, so nothing is cached.

import { patternsOf, type Rule, type RoutesManifest, setsHeadersBeyondKey } from './route-rules.ts'
import { isConditionalRule } from './middleware-matchers.ts'

/** Paths that no rule is meant for. */
const ANY_PATHS = ['/-', '/-/-/-'] as const

/** The rules with conditions that match any path, by their place in the configuration, such as `headers[0]`. */
export function coveringRules(routes: RoutesManifest, basePath = ''): string[] {
  const { redirects, headers, rewrites } = routes
  const lists = 'beforeFiles' in rewrites ? rewrites : { afterFiles: rewrites }
  return [
    ...covering('redirects', redirects, basePath),
    ...covering('headers', headers, basePath, setsHeadersBeyondKey),
    ...Object.entries(lists).flatMap(([name, rules]) => covering(`rewrites.${name}`, rules, basePath)),
  ]
}

function covering(
  list: string,
  rules: readonly Rule[],
  basePath: string,
  isDecisive: (rule: Rule) => boolean = isConditionalRule,
): string[] {
  return rules
    .filter(({ internal }) => internal !== true)
    .flatMap((rule, index) => (isDecisive(rule) && isForAll(rule, basePath) ? `${list}[${index}]` : []))
}

function isForAll({ regex }: Rule, basePath: string): boolean {
  const patterns = patternsOf([regex])
  return ANY_PATHS.every((path) => patterns.some((pattern) => pattern.test(basePath + path)))
}
