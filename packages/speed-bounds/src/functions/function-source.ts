import { Script } from 'node:vm'
import { errorCodes } from '../errors.ts'
import { outerVariables } from './outer-variables.ts'

/** Names that compilers of tests add, and what they stand for. */
const COMPILED: readonly [pattern: RegExp, meaning: string][] = [
  [/^__vi(?:te)?_/, 'an import'],
  [/^cov_/, 'a coverage counter: use the v8 provider, or exclude this file from coverage'],
]

const REMEDY =
  'Move the functions to a file with "export default { … }", and race it by race(new URL("./file.bench.ts", import.meta.url)).'

/** The source of a function as an expression, for another process. Throws if it needs its surroundings. */
export function sourceOf(name: string, fn: () => unknown): string {
  const source = String(fn)
  const expression = [`(${source})`, `Object.values({ ${source} })[0]`].find(isExpression)
  if (/\{\s*\[native code\]\s*\}$/.test(source) || expression === undefined) {
    throw outer(`Function "${name}" has no source that another process could run: it is bound, native or a class.`)
  }
  const variables = outerVariables(fn)
  if (!variables) throw outer(`Function "${name}" cannot be inspected, because this Node has no inspector.`)
  const [first] = variables
  if (first === undefined) return expression
  const meaning = COMPILED.find(([pattern]) => pattern.test(first))?.[1]
  throw outer(
    `Function "${name}" mentions "${first}"${meaning ? ` (${meaning})` : ''} from outside of it, which a fresh process does not have.`,
  )
}

function isExpression(text: string): boolean {
  try {
    return Boolean(new Script(text))
  } catch {
    return false
  }
}

function outer(problem: string): Error {
  return new errorCodes.SPEED_BOUNDS_OUTER_VARIABLE(`${problem} ${REMEDY}`)
}
