// Checks the options when a router is registered.

import type { AnyTRPCRouter } from '@trpc/server'
import { checkOptions, invalidOption } from 'checked-options'
import type { FastifyServerOptions } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import { factorySchema, HANDLER_OPTIONS, ownSchema, pluginSchema, type ResolvedOptions } from './schema.ts'
import { type CreateTrpcFastifyOptions, RULE_HOOKS, type TrpcPluginOptions } from './types.ts'

/** Fastify reads these options of any plugin. */
const REGISTER_OPTIONS = ['logLevel', 'logSerializers']

const PATTERN = /^(?:\*|[^*]+|[^*]+\.\*)$/

const fail = (message: string): Error => new InvalidOptionError(message)

/**
 * Returns the plugin's own options with defaults. Further `trpcOptions` are passed on, as newer versions of tRPC may have them.
 *
 * @throws TRPC_FASTIFY_INVALID_OPTION
 */
export function resolveOptions(options: object): ResolvedOptions {
  const { trpcOptions, ...others } = options as { trpcOptions?: unknown }
  const own = Object.fromEntries(Object.entries(others).filter(([name]) => !REGISTER_OPTIONS.includes(name)))
  checkOptions(pluginSchema, { ...own, trpcOptions: knownOptions(trpcOptions) }, fail)
  const resolved = checkOptions(ownSchema, own, fail)
  for (const [pattern, rule] of Object.entries(resolved.procedures)) {
    if (!PATTERN.test(pattern)) throw fail(invalidOption('procedures', 'rules by "path", "path.*" or "*"', pattern))
    // A decorator of a plugin that is not registered, such as `app.basicAuth`: its procedures would be open to anyone.
    const missing = RULE_HOOKS.find((name) => Object.hasOwn(rule, name) && rule[name] === undefined)
    if (!missing) continue
    const key = /^[\w$-]+$/.test(pattern) ? `.${pattern}` : `["${pattern}"]`
    throw fail(invalidOption(`procedures${key}.${missing}`, 'a function or an array of functions', undefined))
  }
  return resolved
}

function knownOptions(trpcOptions: unknown): unknown {
  if (typeof trpcOptions !== 'object' || trpcOptions === null || Array.isArray(trpcOptions)) return trpcOptions
  return Object.fromEntries(Object.entries(trpcOptions).filter(([name]) => HANDLER_OPTIONS.includes(name)))
}

/**
 * Splits the options of the factory into those of Fastify and those of the plugin.
 *
 * @throws TRPC_FASTIFY_INVALID_OPTION
 */
export function splitFactoryOptions<TRouter extends AnyTRPCRouter>(
  options: CreateTrpcFastifyOptions<TRouter>,
): { fastify: FastifyServerOptions; plugin: TrpcPluginOptions<TRouter> } {
  checkOptions(factorySchema, options, fail)
  const { fastify = {}, ...others } = options
  const entries = Object.entries(others)
  const isOfHandler = ([name]: [string, unknown]): boolean => HANDLER_OPTIONS.includes(name)
  const trpcOptions = Object.fromEntries(entries.filter(isOfHandler))
  const plugin = Object.fromEntries(entries.filter((entry) => !isOfHandler(entry)))
  return { fastify, plugin: { ...plugin, trpcOptions } as unknown as TrpcPluginOptions<TRouter> }
}
