// The inputs of the calls of a request, from its body or query.

import { TRPCError } from '@trpc/server'
import { isObject } from '../runtime/type-guards.ts'

/** Reads the inputs of the calls of a request. */
export interface CallInputs {
  read(index: number): unknown
  /** The input, if it was already read. */
  result(index: number): unknown
}

/** The inputs of all calls. The first call that reads its input parses and transforms all of them. */
export class Inputs implements CallInputs {
  readonly #text: string | null
  readonly #isBatch: boolean
  readonly #count: number
  readonly #deserialize: (input: unknown) => unknown
  #inputs: readonly unknown[] | undefined
  #failure: TRPCError | undefined

  constructor(text: string | null, isBatch: boolean, count: number, deserialize: (input: unknown) => unknown) {
    this.#text = text
    this.#isBatch = isBatch
    this.#count = count
    this.#deserialize = deserialize
  }

  read(index: number): unknown {
    if (this.#failure) throw this.#failure
    try {
      this.#inputs ??= this.#parse()
    } catch (cause) {
      this.#failure =
        cause instanceof TRPCError
          ? cause
          : new TRPCError({
              code: 'BAD_REQUEST',
              message: cause instanceof Error ? cause.message : 'Invalid input',
              cause,
            })
      throw this.#failure
    }
    return this.#inputs[index]
  }

  /** The input, if it was already read. */
  result(index: number): unknown {
    return this.#inputs?.[index]
  }

  #parse(): unknown[] {
    if (!this.#text) return []
    const inputs: unknown = JSON.parse(this.#text)
    if (!this.#isBatch) return [this.#deserialize(inputs)]
    if (!isObject(inputs)) {
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: '"input" needs to be an object when doing a batch call',
      })
    }
    const all: unknown[] = []
    for (let index = 0; index < this.#count; index++) {
      const input = (inputs as Record<number, unknown>)[index]
      all.push(input === undefined ? undefined : this.#deserialize(input))
    }
    return all
  }
}
