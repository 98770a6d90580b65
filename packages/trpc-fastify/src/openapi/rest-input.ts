// The input of a request to a route, from its path and its query or body.

import { TRPCError } from '@trpc/server'
import type { FastifyRequest } from 'fastify'
import type { CallInputs } from '../request/inputs.ts'
import { isObject } from '../runtime/type-guards.ts'
import { coercion } from './coerce.ts'
import type { JsonSchema } from './json-schema.ts'

/** Reads the input of requests to one route. */
export type ReadInput = (req: FastifyRequest) => unknown

export class RestInput implements CallInputs {
  readonly #req: FastifyRequest
  readonly #read: ReadInput
  #input: unknown
  #isRead = false

  constructor(req: FastifyRequest, read: ReadInput) {
    this.#req = req
    this.#read = read
  }

  read(): unknown {
    if (!this.#isRead) {
      this.#input = this.#read(this.#req)
      this.#isRead = true
    }
    return this.#input
  }

  /** The input, if it was already read. */
  result(): unknown {
    return this.#input
  }
}

/** Returns how to read the input. Parameters of the path win over a query or body of the same name. */
export function inputReader(schema: JsonSchema | undefined, isInBody: boolean): ReadInput {
  if (!schema) return () => undefined
  const ofTexts = coercion(schema, true) ?? ((value) => value)
  if (!isInBody) return ({ query, params }) => ofTexts(merged(query, params))
  const ofBody = coercion(schema, false) ?? ((value) => value)
  return ({ body, params, headers }) => {
    if (body !== undefined && body !== null && !isPlain(body)) {
      throw new TRPCError({ code: 'BAD_REQUEST', message: 'Expected an object as the body' })
    }
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded')
    const input = (isForm ? ofTexts : ofBody)(merged(body, {})) as object
    const texts = params as Record<string, unknown>
    if (Object.keys(texts).length === 0) return input
    const coerced = ofTexts(texts) as object
    return merged(input, coerced)
  }
}

const isPlain = (value: unknown): boolean => isObject(value) && !Array.isArray(value)

/** A new object with the prototype of all objects. No name of a client changes it. */
function merged(one: unknown, other: unknown): Record<string, unknown> {
  const all: Record<string, unknown> = { ...(one as object | undefined), ...(other as object) }
  if (Object.hasOwn(all, '__proto__')) delete all['__proto__']
  return all
}
