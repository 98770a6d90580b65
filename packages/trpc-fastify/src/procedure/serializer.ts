// Serializes results by a function that is compiled from their schema.

import type { AnyTRPCProcedure } from '@trpc/server'
import fastJsonStringify from 'fast-json-stringify'
import { InvalidOptionError } from '../errors.ts'
import type { SerializerOption } from '../options/types.ts'
import { definitionOf, outputOf, type RouterInternals } from './trpc-internals.ts'
import type { ProcedureRules } from './rules.ts'

/** Returns JSON. */
export type Serializer = (data: unknown) => string

/** Validators with a JSON schema, see standardschema.dev/json-schema. */
interface StandardJsonSchema {
  readonly '~standard'?: { readonly jsonSchema?: { output(options: { target: string }): Record<string, unknown> } }
}

/** The version of JSON schema that fast-json-stringify reads. */
const TARGET = 'draft-07'

/** The serializers of a router's procedures. */
export class Serializers {
  readonly #rules: ProcedureRules
  readonly #find: RouterInternals['find']
  readonly #made = new Map<string, Serializer | undefined>()

  /**
   * @throws TRPC_FASTIFY_INVALID_OPTION for an invalid JSON schema, for a rule by the path of a procedure without an output
   * schema, and for a router with a data transformer, which writes other JSON
   */
  constructor(rules: ProcedureRules, { config, find, paths }: RouterInternals) {
    this.#rules = rules
    this.#find = find
    if (!rules.some('serializer')) return
    const probe = {}
    if (config.transformer.output.serialize(probe) !== probe) {
      const [pattern] = rules.all.find(([, rule]) => rule.serializer !== undefined)!
      throw invalidSerializer(pattern, 'not supported for a router with a data transformer. Remove one of them.')
    }
    for (const path of paths) {
      if (this.at(path) || !rules.all.some(([pattern, { serializer }]) => pattern === path && serializer)) continue
      throw invalidSerializer(path, 'expected a procedure whose output schema has a JSON schema, got one without.')
    }
  }

  /** Returns the serializer of a loaded procedure, if it has one. Subscriptions have none. */
  at(path: string): Serializer | undefined {
    if (this.#made.has(path)) return this.#made.get(path)
    const procedure = this.#find(path)
    if (!procedure) return undefined
    const option = definitionOf(procedure).type === 'subscription' ? undefined : this.#rules.of(path).serializer
    const serializer = option && serializerOf(option, procedure, path)
    this.#made.set(path, serializer)
    return serializer
  }
}

/** For `'output'`, returns undefined if the procedure has no JSON schema. */
function serializerOf(option: SerializerOption, procedure: AnyTRPCProcedure, path: string): Serializer | undefined {
  if (typeof option === 'function') return option
  if (option !== 'output') return compileSchema(option, path)
  const { jsonSchema } = (outputOf(procedure) as StandardJsonSchema | undefined)?.['~standard'] ?? {}
  if (!jsonSchema) return undefined
  let schema: Record<string, unknown>
  try {
    schema = jsonSchema.output({ target: TARGET })
  } catch {
    // It has types that JSON lacks, such as dates.
    return undefined
  }
  return compileSchema(schema, path)
}

function compileSchema(schema: Readonly<Record<string, unknown>>, path: string): Serializer {
  try {
    return fastJsonStringify(schema as unknown as fastJsonStringify.Schema)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw Object.assign(invalidSerializer(path, `expected a valid JSON schema, got one that fails: ${reason}`), {
      cause,
    })
  }
}

function invalidSerializer(path: string, problem: string): Error {
  const rule = /^[\w$-]+$/.test(path) ? `.${path}` : `[${JSON.stringify(path)}]`
  return new InvalidOptionError(`Invalid option "procedures${rule}.serializer": ${problem}`)
}
