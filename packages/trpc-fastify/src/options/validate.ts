// Checks the options when a router is registered.

import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyServerOptions, LogLevel } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import { type CreateTrpcFastifyOptions, ENGINES, HOOKS, type ProcedureRule, type TrpcPluginOptions } from './types.ts'

/** The levels of pino, and none. */
const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** What is expected of an option, in words and in code. */
type Check = readonly [expected: string, holds: (value: unknown) => boolean]

const isNumber = (value: unknown): boolean => typeof value === 'number' && value >= 0
const aFunction: Check = ['a function', (value) => typeof value === 'function']
const aBoolean: Check = ['a boolean', (value) => typeof value === 'boolean']

const PLUGIN_OPTIONS: Readonly<Record<string, Check>> = {
  prefix: ['a string', (value) => typeof value === 'string'],
  useWSS: aBoolean,
  engine: [`one of ${ENGINES.join(', ')}`, (value) => (ENGINES as readonly unknown[]).includes(value)],
  trpcOptions: ['an object with `router`', isRecord],
  procedures: ['an object of rules by path', isRecord],
  batchConcurrency: [
    'a whole number >= 1, or Infinity',
    (value) => value === Number.POSITIVE_INFINITY || isCount(value),
  ],
  maxBatchResponseSize: ['a number of bytes >= 0', isNumber],
  onCallEnd: aFunction,
  callLogLevel: [`one of ${LOG_LEVELS.join(', ')}`, (value) => (LOG_LEVELS as readonly unknown[]).includes(value)],
  endStreamsOnClose: aBoolean,
}

const hooks: Check = [
  'a function or an array of functions',
  (value) => [value].flat().every((hook) => typeof hook === 'function'),
]

const RULE_OPTIONS: Readonly<Record<keyof ProcedureRule, Check>> = {
  ...(Object.fromEntries(HOOKS.map((name) => [name, hooks])) as Record<(typeof HOOKS)[number], Check>),
  bodyLimit: ['a whole number of bytes >= 1', isCount],
  timeout: ['a number of milliseconds from 1 to 2147483647', isDelay],
  rateLimit: aFunction,
  serializer: [
    "'output', a JSON schema or a function",
    (value) => value === 'output' || typeof value === 'function' || isRecord(value),
  ],
}

/** Fastify reads these itself, in the options of any plugin. */
const REGISTER_OPTIONS = ['logLevel', 'logSerializers']

const HANDLER_OPTIONS: Readonly<Record<string, Check>> = {
  router: ['a tRPC router', isRouter],
  createContext: aFunction,
  onError: aFunction,
  responseMeta: aFunction,
  allowBatching: aBoolean,
  batching: [
    'an object with `enabled`, a boolean',
    (value) => isRecord(value) && typeof value['enabled'] === 'boolean',
  ],
  maxBatchSize: ['a number >= 0', isNumber],
  allowMethodOverride: aBoolean,
  maxBodySize: ['a number of bytes >= 0', isNumber],
  keepAlive: ['an object with `enabled`, a boolean, and `pingMs` and `pongWaitMs`, milliseconds', isKeepAlive],
  dangerouslyDisablePong: aBoolean,
  experimental_encoder: [
    'an object with the functions `encode` and `decode`',
    (value) => isRecord(value) && typeof value['encode'] === 'function' && typeof value['decode'] === 'function',
  ],
}

/** Throws for options that nothing can be served with. */
export function checkOptions(options: object): void {
  refuseUnknown(options, [...Object.keys(PLUGIN_OPTIONS), ...REGISTER_OPTIONS])
  const { trpcOptions } = options as { trpcOptions?: object }
  demand(trpcOptions !== undefined, 'trpcOptions', PLUGIN_OPTIONS['trpcOptions']![0], trpcOptions)
  checkAll(options, PLUGIN_OPTIONS, '')
  checkRules((options as { procedures?: Record<string, unknown> }).procedures)
  const { router } = trpcOptions as { router?: unknown }
  demand(router !== undefined, 'trpcOptions.router', HANDLER_OPTIONS['router']![0], router)
  checkAll(trpcOptions, HANDLER_OPTIONS, 'trpcOptions.')
}

/** The same for those of the factory, which has all in one object. */
export function checkFactoryOptions(options: unknown): void {
  demand(isRecord(options), 'options', 'an object with `router`', options)
  const { trpcOptions: _, ...pluginOptions } = PLUGIN_OPTIONS
  const checks = {
    ...pluginOptions,
    ...HANDLER_OPTIONS,
    fastify: ['an object of options of `Fastify()`', isRecord] as Check,
  }
  refuseUnknown(options, Object.keys(checks))
  demand(options['router'] !== undefined, 'router', HANDLER_OPTIONS['router']![0], undefined)
  checkAll(options, checks, '')
  checkRules(options['procedures'] as Record<string, unknown> | undefined)
}

/** What the factory takes, as the plugin and Fastify take it. */
export function splitFactoryOptions<TRouter extends AnyTRPCRouter>({
  fastify,
  ...options
}: CreateTrpcFastifyOptions<TRouter>): { fastify: FastifyServerOptions; plugin: TrpcPluginOptions<TRouter> } {
  const entries = Object.entries(options)
  const isOfPlugin = (name: string): boolean => Object.hasOwn(PLUGIN_OPTIONS, name)
  const trpcOptions = Object.fromEntries(entries.filter(([name]) => !isOfPlugin(name)))
  const plugin = Object.fromEntries(entries.filter(([name]) => isOfPlugin(name)))
  return { fastify: fastify ?? {}, plugin: { ...plugin, trpcOptions } as unknown as TrpcPluginOptions<TRouter> }
}

function checkRules(procedures: Readonly<Record<string, unknown>> = {}): void {
  for (const [pattern, rule] of Object.entries(procedures)) {
    const where = `procedures['${pattern}']`
    demand(/^(\*|[^*]+|[^*]+\.\*)$/.test(pattern), 'procedures', 'rules by `path`, `path.*` or `*`', pattern)
    demand(isRecord(rule), where, 'a rule, which is an object', rule)
    refuseUnknown(rule, Object.keys(RULE_OPTIONS), where)
    checkAll(rule, RULE_OPTIONS, `${where}.`)
  }
}

function refuseUnknown(options: object, known: readonly string[], what = 'the options'): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new InvalidOptionError(`Expected ${what} to be some of ${known.join(', ')}, got \`${unknown}\``)
}

function checkAll(options: object, checks: Readonly<Record<string, Check>>, where: string): void {
  for (const [name, [expected, holds]] of Object.entries(checks)) {
    const value = (options as Record<string, unknown>)[name]
    demand(value === undefined || holds(value), `${where}${name}`, expected, value)
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1
}

/** What `setTimeout` can wait. */
function isDelay(value: unknown): boolean {
  return typeof value === 'number' && value >= 1 && value <= 2_147_483_647
}

function isRouter(value: unknown): boolean {
  const definition = isRecord(value) ? value['_def'] : undefined
  return isRecord(definition) && isRecord(definition['procedures'])
}

function isKeepAlive(value: unknown): boolean {
  if (!isRecord(value) || typeof value['enabled'] !== 'boolean') return false
  return ['pingMs', 'pongWaitMs'].every((name) => value[name] === undefined || isNumber(value[name]))
}

function demand(holds: boolean, name: string, expected: string, got: unknown): asserts holds {
  if (!holds) throw new InvalidOptionError(`Expected \`${name}\` to be ${expected}, got ${shown(got)}`)
}

/** Objects may hold anything, and a whole router: their kind is enough. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'an array'
  switch (typeof value) {
    case 'object':
      return 'an object'
    case 'string':
      return `${JSON.stringify(value)} (string)`
    case 'number':
    case 'boolean':
      return `${value} (${typeof value})`
    default:
      return `a ${typeof value}`
  }
}
