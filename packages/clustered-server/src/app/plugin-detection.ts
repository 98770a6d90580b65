// Apps in the form of fastify-cli: a plugin that gets a Fastify instance.

import { importFrom } from './import-from.ts'

/** A function of any parameters. */
export type AnyFunction = (...args: never[]) => unknown

/** Symbols that fastify-plugin sets on a function. */
const MARKS = ['skip-override', 'fastify.display-name', 'plugin-meta'].map((name) => Symbol.for(name))
/** Usual names of the first two parameters of a plugin and of a request listener. */
const OF_PLUGIN = [new Set(['fastify', 'app', 'instance', 'server']), new Set(['opts', 'options'])] as const
const OF_LISTENER = [new Set(['req', 'request']), new Set(['res', 'response', 'reply'])] as const

/** Whether a function was wrapped by fastify-plugin. */
export function isMarkedPlugin(value: AnyFunction): boolean {
  return MARKS.some((mark) => mark in value)
}

/**
 * Whether a function is a Fastify plugin and not a request listener. Both may be async with two or three parameters, so
 * the names of the parameters decide. A function with other names, as in minified code, is a listener unless it was
 * wrapped by fastify-plugin.
 */
export function isFastifyPlugin(value: AnyFunction): boolean {
  if (isMarkedPlugin(value)) return true
  const names = parameterNames(value)
  const isNamedLike = (known: readonly Set<string>[]): boolean =>
    known.some((some, index) => some.has(names[index] ?? ''))
  return !isNamedLike(OF_LISTENER) && isNamedLike(OF_PLUGIN)
}

/**
 * Creates an instance of the Fastify installed beside the app, and registers a plugin.
 *
 * @param options the module's export `options`, for the instance
 * @throws CLUSTERED_SERVER_INVALID_APP when Fastify is not installed
 */
export async function instanceWith(plugin: AnyFunction, url: string, options: unknown): Promise<unknown> {
  const { fastify } = (await importFrom(url, 'fastify', 'a plugin of Fastify')) as { fastify: MakeInstance }
  const instance = fastify(typeof options === 'object' && options !== null ? { ...options } : {})
  instance.register(plugin, {})
  return instance
}

type MakeInstance = (options: object) => { register: (plugin: AnyFunction, options: object) => unknown }

/** Names of the first parameters in the source, without the underscore of unused ones. */
function parameterNames(value: AnyFunction): string[] {
  const source = withoutComments(Function.prototype.toString.call(value))
  const [open, arrow] = [source.indexOf('('), source.indexOf('=>')]
  // `async fastify => {}`
  const isBare = arrow !== -1 && (open === -1 || arrow < open)
  const list = isBare ? source.slice(0, arrow).replace(/^async\b/, '') : source.slice(open + 1)
  return splitList(list).map((parameter) => parameter.split('=', 1)[0]!.trim().replace(/^_/, ''))
}

/** Splits a list at its commas, up to its end. Commas within brackets do not count. */
function splitList(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const character of list) {
    if ('([{'.includes(character)) depth++
    if (')]}'.includes(character)) depth--
    if (depth < 0) break
    if (character === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts
}

function withoutComments(source: string): string {
  let text = ''
  for (let at = 0; at < source.length;) {
    const start = source.indexOf('/', at)
    const end = { '/*': '*/', '//': '\n' }[source.slice(start, start + 2)]
    // Only the parameters matter, so the first slash outside of a comment ends the search.
    if (start === -1 || !end) return text + source.slice(at)
    text += source.slice(at, start)
    const close = source.indexOf(end, start + 2)
    at = close === -1 ? source.length : close + end.length
  }
  return text
}
