import type * as v from 'valibot'

/** A kind of option: the value that a user gives, and the value that the checked options have. */
export type Schema<TInput, TOutput = TInput> = v.GenericSchema<TInput, TOutput>
