// Who verifies clients, and what is known about them then.

import type { FastifyRequest } from 'fastify'

/** Claims of a client whose identity is verified. */
export type Claims = Readonly<Record<string, unknown>>

/** Verifies clients, such as that of `jwtAuthentication()`. */
export interface Authenticator {
  /** Returns the claims of a client, or undefined for one without credentials. It throws for invalid ones. */
  authenticate: (request: FastifyRequest) => Promise<Claims | undefined>
}
