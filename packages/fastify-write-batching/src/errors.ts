import createError, { type FastifyErrorConstructor } from '@fastify/error'

// Codes are API: a code is never reused and never renamed. The README says of each what to do.

/** The plugin was registered with an option that it does not have. */
export const InvalidOptionError: FastifyErrorConstructor<
  { code: 'FASTIFY_WRITE_BATCHING_INVALID_OPTION' },
  [option: string]
> = createError(
  'FASTIFY_WRITE_BATCHING_INVALID_OPTION',
  'Invalid option "%s": fastify-write-batching has no options. Remove it.',
  500,
  TypeError,
)

/**
 * Errors of this package by code.
 *
 * @example
 * if (error instanceof errorCodes.FASTIFY_WRITE_BATCHING_INVALID_OPTION) console.error(error.message)
 */
export const errorCodes: { readonly FASTIFY_WRITE_BATCHING_INVALID_OPTION: typeof InvalidOptionError } = {
  FASTIFY_WRITE_BATCHING_INVALID_OPTION: InvalidOptionError,
}
