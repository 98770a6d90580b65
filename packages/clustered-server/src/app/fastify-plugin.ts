// The form of an app that fastify-cli starts: a plugin, which gets an instance of Fastify and makes none itself.

import { importFrom } from './import-from.ts'

/** A function of any parameters. */
export type AnyFunction = (...args: never[]) => unknown

/** What fastify-plugin sets on a function. */
const MARKS = ['skip-override', 'fastify.display-name', 'plugin-meta'].map((name) => Symbol.for(name))
/** Names that people give the first two parameters of a plugin and of a request listener. */
const OF_PLUGIN = [new Set(['fastify', 'app', 'instance', 'server']), new Set(['opts', 'options'])] as const
const OF_LISTENER = [new Set(['req', 'request']), new Set(['res', 'response', 'reply'])] as const

/** Whether fastify-plugin has made a function. */
export function isMarkedPlugin(value: AnyFunction): boolean {
  return MARKS.some((mark) => mark in value)
}

/**
 * Whether a function is a plugin of Fastify, and not a request listener: both may be async and of two or three
 * parameters. Calling it would tell, but a listener may do anything then. What the parameters are called tells as well;
 * where it does not, as in minified code, it is a listener unless fastify-plugin has marked it.
 */
export function isFastifyPlugin(value: AnyFunction): boolean {
  if (isMarkedPlugin(value)) return true
  const names = parameterNames(value)
  const isNamedLike = (known: readonly Set<string>[]): boolean =>
    known.some((some, index) => some.has(names[index] ?? ''))
  return !isNamedLike(OF_LISTENER) && isNamedLike(OF_PLUGIN)
}

/**
 * Makes an instance of the Fastify that the app's folder has installed, and registers a plugin.
 *
 * @param options what the module exports as `options`, for the instance
 * @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_APP` when there is no Fastify
 */
export async function instanceWith(plugin: AnyFunction, url: string, options: unknown): Promise<unknown> {
  const { fastify } = (await importFrom(url, 'fastify', 'a plugin of Fastify')) as { fastify: MakeInstance }
  const instance = fastify(typeof options === 'object' && options !== null ? { ...options } : {})
  instance.register(plugin, {})
  return instance
}

type MakeInstance = (options: object) => { register: (plugin: AnyFunction, options: object) => unknown }

/** The names of the first parameters, as far as the source tells; without the underscore of unused ones. */
function parameterNames(value: AnyFunction): string[] {
  const source = withoutComments(Function.prototype.toString.call(value))
  const [open, arrow] = [source.indexOf('('), source.indexOf('=>')]
  // `async fastify => {}`
  const isBare = arrow !== -1 && (open === -1 || arrow < open)
  const list = isBare ? source.slice(0, arrow).replace(/^async\b/, '') : source.slice(open + 1)
  return splitList(list).map((parameter) => parameter.split('=', 1)[0]!.trim().replace(/^_/, ''))
}

/** What is between the commas of a list, up to its end; commas in brackets of any kind do not count. */
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
    // Whatever comes after the first parameters is of no interest.
    if (start === -1 || !end) return text + source.slice(at)
    text += source.slice(at, start)
    const close = source.indexOf(end, start + 2)
    at = close === -1 ? source.length : close + end.length
  }
  return text
}
