// Who verifies clients, and what is known about them then.

import type { FastifyRequest } from 'fastify'

/** Claims of a client whose identity is verified. */
export type Claims = Readonly<Record<string, unknown>>

/** Verifies clients, such as that of `jwtAuthentication()`. */
export interface Authenticator {
  /** Returns the claims of a client, or undefined for one without credentials. It throws for invalid ones. */
  authenticate: (request: FastifyRequest) => Promise<Claims | undefined>
  /**
   * The `www-authenticate` header of a 401, such as `Basic realm="orders"`. Headers of an error that `authenticate` throws
   * replace it.
   * @default 'Bearer'
   */
  challenge?: string
  /** Security schemes for the OpenAPI document, such as `[{ jwt: [] }]`. It must have schemes of these names. @default none */
  security?: readonly SecurityRequirement[]
}

/** Names of security schemes in an OpenAPI document, and their scopes. */
type SecurityRequirement = Readonly<Record<string, readonly string[]>>
