// Forwards query parameters of the client, repeated ones included.

import { BadParameterError } from '../errors.ts'
import { invalidOptionError } from '../options/invalid-option.ts'

/**
 * Rejects parameters that the path of the call sets already. The upstream would get two values, and could take the client's.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION
 */
export function assertForwardedQuery(path: string, names: readonly string[], where: string): void {
  const [, query = ''] = path.split('?', 2)
  const own = [...new URLSearchParams(query).keys()]
  const twice = names.find((name) => own.includes(name))
  if (twice === undefined) return
  throw invalidOptionError(`${where}.forwardQuery`, `parameters that the path ${path} does not set`, twice)
}

/**
 * The path with the parameters of these names.
 *
 * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER for a value that is not text
 */
export function withQuery(path: string, names: readonly string[], query: unknown): string {
  let all = path
  for (const name of names) {
    const values = Object.hasOwn(query as object, name) ? [(query as Record<string, unknown>)[name]].flat() : []
    for (const value of values) {
      all += `${all.includes('?') ? '&' : '?'}${encodeURIComponent(name)}=${encodeURIComponent(textOf(name, value))}`
    }
  }
  return all
}

function textOf(name: string, value: unknown): string {
  if (!['string', 'number', 'boolean', 'bigint'].includes(typeof value)) {
    throw new BadParameterError(`{query.${name}} is no single value`)
  }
  const text = String(value)
  if (!text.isWellFormed()) throw new BadParameterError(`{query.${name}} is not well-formed Unicode`)
  return text
}
