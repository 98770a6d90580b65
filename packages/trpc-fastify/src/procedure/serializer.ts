// Writes results as JSON by a function that was made for their schema.

import type { AnyTRPCProcedure } from '@trpc/server'
import fastJsonStringify from 'fast-json-stringify'
import { InvalidOptionError } from '../errors.ts'
import type { SerializerOption } from '../options/types.ts'
import { definitionOf, outputOf, type RouterInternals } from './trpc-internals.ts'
import type { ProcedureRules } from './rules.ts'

/** Gives JSON. */
export type Serializer = (data: unknown) => string

/** What validators have that can say what they let through, see standardschema.dev/json-schema. */
interface StandardJsonSchema {
  readonly '~standard'?: { readonly jsonSchema?: { output(options: { target: string }): Record<string, unknown> } }
}

/** The version that fast-json-stringify reads. */
const TARGET = 'draft-07'

/** The serializers of a router's procedures. */
export class Serializers {
  readonly #rules: ProcedureRules
  readonly #find: RouterInternals['find']
  readonly #made = new Map<string, Serializer | undefined>()

  /**
   * @throws TRPC_FASTIFY_INVALID_OPTION for a JSON schema that none can be made of, for a procedure without
   * an output schema that was named by its path, and beside a data transformer, which writes another JSON
   */
  constructor(rules: ProcedureRules, { config, find, paths }: RouterInternals) {
    this.#rules = rules
    this.#find = find
    if (!rules.some('serializer')) return
    const probe = {}
    if (config.transformer.output.serialize(probe) !== probe) {
      throw new InvalidOptionError('Expected no `serializer` for a router with a data transformer, got one')
    }
    for (const path of paths) {
      if (this.at(path) || !rules.all.some(([pattern, { serializer }]) => pattern === path && serializer)) continue
      throw new InvalidOptionError(`Expected \`${path}\` to have an output that is a JSON schema too, got none`)
    }
  }

  /** The serializer of a procedure, if there is one: not for subscriptions, nor what is not loaded yet. */
  at(path: string): Serializer | undefined {
    if (this.#made.has(path)) return this.#made.get(path)
    const procedure = this.#find(path)
    if (!procedure) return undefined
    const option = definitionOf(procedure).type === 'subscription' ? undefined : this.#rules.of(path).serializer
    const serializer = option && serializerOf(option, procedure)
    this.#made.set(path, serializer)
    return serializer
  }
}

/** For `output`, none where there is no schema that can be written as a JSON schema. */
function serializerOf(option: SerializerOption, procedure: AnyTRPCProcedure): Serializer | undefined {
  if (typeof option === 'function') return option
  if (option !== 'output') return compiled(option)
  const { jsonSchema } = (outputOf(procedure) as StandardJsonSchema | undefined)?.['~standard'] ?? {}
  if (!jsonSchema) return undefined
  let schema: Record<string, unknown>
  try {
    schema = jsonSchema.output({ target: TARGET })
  } catch {
    // It has what JSON has not, such as dates.
    return undefined
  }
  return compiled(schema)
}

function compiled(schema: Readonly<Record<string, unknown>>): Serializer {
  try {
    return fastJsonStringify(schema as unknown as fastJsonStringify.Schema)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw Object.assign(
      new InvalidOptionError(`Expected \`serializer\` to be a JSON schema, got one that: ${reason}`),
      {
        cause,
      },
    )
  }
}
