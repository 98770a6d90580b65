import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyHandlerOptions, FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify'
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { InvalidOptionError } from './errors.ts'

/** Router and handler options, under the names of `fastifyTRPCPlugin`. */
export type TrpcHandlerOptions<TRouter extends AnyTRPCRouter> = FastifyHandlerOptions<
  TRouter,
  FastifyRequest,
  FastifyReply
>

/**
 * How procedures are called. `compiled`: step by step, without tRPC's promise for each step; a
 * procedure that is not built as expected is called `direct`, by tRPC's own code; `official`: every
 * request goes to tRPC's own adapter.
 */
export type EngineOption = (typeof ENGINES)[number]
const ENGINES = ['compiled', 'direct', 'official'] as const

/** Options of {@link trpcPlugin}: those of `fastifyTRPCPlugin`, and `engine`. */
export interface TrpcPluginOptions<TRouter extends AnyTRPCRouter> extends FastifyTRPCPluginOptions<TRouter> {
  /** The path that the router is served at, such as `/trpc`. @default '' */
  prefix?: string
  /** Whether WebSockets are served too; `@fastify/websocket` must be registered before. @default false */
  useWSS?: boolean
  /** The router, and how it is served: the options below. */
  trpcOptions: FastifyTRPCPluginOptions<TRouter>['trpcOptions']
  /** How procedures are called: `'compiled'`, `'direct'`, or `'official'` for tRPC's own adapter. @default 'compiled' */
  engine?: EngineOption
}

/** Options of {@link createTrpcFastify}: the plugin's, in one object, and those of Fastify itself. */
export type CreateTrpcFastifyOptions<TRouter extends AnyTRPCRouter> = Omit<TrpcPluginOptions<TRouter>, 'trpcOptions'> &
  TrpcPluginOptions<TRouter>['trpcOptions'] & {
    /** Options of `Fastify()`. @default {} */
    fastify?: FastifyServerOptions
  }

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
}

function refuseUnknown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new InvalidOptionError(`Expected the options to be some of ${known.join(', ')}, got \`${unknown}\``)
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
