// The kinds and defaults of all options.

import {
  anyOf,
  boolean,
  bytes,
  custom,
  func,
  integer,
  isRecord,
  list,
  milliseconds,
  number,
  object,
  observer,
  oneOf,
  optional,
  type OptionsSchema,
  record,
  type Schema,
  withOldValues,
} from 'checked-options'
import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyServerOptions, RouteShorthandOptions } from 'fastify'
import {
  type ProcedureRule,
  RULE_HOOKS,
  type SerializerOption,
  type TrpcObserver,
  type TrpcPluginOptions,
} from './types.ts'

/** Options of the plugin beside tRPC's own. */
export type OwnOptions = Omit<TrpcPluginOptions<AnyTRPCRouter>, 'trpcOptions'>

type Defaults = Exclude<keyof OwnOptions, symbol>

/** The same, with defaults. */
export type ResolvedOptions = Readonly<Required<Pick<OwnOptions, Defaults>>>

const infinity = custom<number>('Infinity', (value) => value === Infinity)
const hooks = <TName extends (typeof RULE_HOOKS)[number]>(): Schema<NonNullable<RouteShorthandOptions[TName]>> =>
  custom('a function or an array of functions', (value) => [value].flat().every((hook) => typeof hook === 'function'))

const serializer = anyOf(
  oneOf('output'),
  custom<Readonly<Record<string, unknown>>>('a JSON schema', isRecord),
  func<(data: unknown) => string>(),
) as Schema<SerializerOption>

export const ruleSchema: OptionsSchema<ProcedureRule> = object({
  onRequest: optional(hooks<'onRequest'>()),
  preValidation: optional(hooks<'preValidation'>()),
  preHandler: optional(hooks<'preHandler'>()),
  onSend: optional(hooks<'onSend'>()),
  onResponse: optional(hooks<'onResponse'>()),
  bodyLimit: optional(bytes(1)),
  timeout: optional(milliseconds()),
  rateLimit: optional(func<NonNullable<ProcedureRule['rateLimit']>>()),
  serializer: optional(serializer),
  useWSS: optional(boolean()),
})

const OBSERVER_METHODS = ['callEnded', 'requestStarted', 'callStarted', 'runCall'] as const

/** Former values, also those of the option `engine`, which people keep when they rename it. */
const OLD_FAST_PATHS = [
  ['compiled', true],
  ['direct', true],
  ['uncompiled', true],
  ['official', false],
] as const

/** Value of `fastPath` for tests: tRPC calls each procedure itself, as it does one of an unknown form. */
export const UNCOMPILED: unique symbol = Symbol('uncompiled')

/** Whether tRPC is to call each procedure itself. */
export const isUncompiled = (value: unknown): boolean => value === UNCOMPILED

const fastPath = custom<boolean>('true or false', (value) => typeof value === 'boolean' || isUncompiled(value), {
  type: 'boolean',
})

const ownKinds = {
  prefix: optional(
    custom<string>('a string', (value) => typeof value === 'string'),
    '',
  ),
  useWSS: optional(boolean(), false),
  fastPath: optional(withOldValues(fastPath, OLD_FAST_PATHS), true),
  procedures: optional(record(ruleSchema), {}),
  batchConcurrency: optional(anyOf(integer(1), infinity), Infinity),
  maxBatchResponseSize: optional(anyOf(bytes(0), infinity), Infinity),
  observers: optional(list(observer<TrpcObserver>(OBSERVER_METHODS)) as Schema<readonly TrpcObserver[]>, []),
  callLogLevel: optional(oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'silent'),
  endStreamsOnClose: optional(boolean(), false),
}

const renamed = {
  engine: 'renamed to "fastPath", which is true or false.',
  onCallEnd: 'renamed to "observers", an array of objects with the function callEnded.',
}

/** tRPC accepts fractions. */
const amount = anyOf(number(0), infinity)

/** tRPC's own options, whose types are tRPC's. */
const handlerKinds = {
  router: custom('a tRPC router', isRouter),
  createContext: optional(func()),
  onError: optional(func()),
  responseMeta: optional(func()),
  allowBatching: optional(boolean()),
  // A newer version of tRPC may add keys.
  batching: optional(object({ enabled: boolean() }, { others: true })),
  maxBatchSize: optional(amount),
  allowMethodOverride: optional(boolean()),
  maxBodySize: optional(amount),
  keepAlive: optional(
    object({ enabled: boolean(), pingMs: optional(amount), pongWaitMs: optional(amount) }, { others: true }),
  ),
  dangerouslyDisablePong: optional(boolean()),
  experimental_encoder: optional(
    custom(
      'an object with the functions encode and decode',
      (value) => isRecord(value) && typeof value['encode'] === 'function' && typeof value['decode'] === 'function',
    ),
  ),
}

export const HANDLER_OPTIONS: readonly string[] = Object.keys(handlerKinds)

export const ownSchema: OptionsSchema<OwnOptions, ResolvedOptions> = object(ownKinds, { renamed })

export const pluginSchema: Schema<unknown> = object({ ...ownKinds, trpcOptions: object(handlerKinds) }, { renamed })

export const factorySchema: Schema<unknown> = object(
  {
    ...ownKinds,
    ...handlerKinds,
    fastify: optional(custom<FastifyServerOptions>('an object of options of Fastify()', isRecord), {}),
  },
  { renamed: { ...renamed, trpcOptions: 'only for trpcPlugin. Here its options stand beside the others.' } },
)

function isRouter(value: unknown): boolean {
  const definition = isRecord(value) ? value['_def'] : undefined
  return isRecord(definition) && isRecord(definition['procedures'])
}
