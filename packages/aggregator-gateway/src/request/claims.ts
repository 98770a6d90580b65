// The claims of verified clients. Only the authenticator of the gateway sets them: `request.user`, which any hook may set from
// an unverified token, is another source.

import { isRecord } from 'checked-options'
import type { FastifyRequest, onRequestAsyncHookHandler, RouteShorthandOptions } from 'fastify'
import { AuthenticationFailedError, UnauthenticatedError } from '../errors.ts'
import type { Authenticator, Claims } from '../options/authentication.ts'

const claims = new WeakMap<FastifyRequest, Claims>()

/**
 * Returns the claims of a request's client. Undefined until it is verified, and for a client without credentials.
 *
 * @example
 * const headers = (request) => ({ 'x-tenant': claimsOf(request)?.tenant })
 */
export function claimsOf(request: FastifyRequest): Claims | undefined {
  return claims.get(request)
}

/** Options of a route whose document names the security schemes of its clients. */
export function securedRoute(
  route: RouteShorthandOptions,
  { security }: Authenticator,
  authentication: boolean | 'optional',
): RouteShorthandOptions {
  if (!security || (route.schema && 'security' in route.schema)) return route
  const required = { true: security, optional: [...security, {}], false: [] }[`${authentication}`]
  const schema = { ...route.schema, security: required }
  return { ...route, schema }
}

/** Options of a route that verifies its clients before all other hooks. */
export function authenticatedRoute(
  route: RouteShorthandOptions,
  authenticator: Authenticator,
  isOptional: boolean,
): RouteShorthandOptions {
  const { challenge = 'Bearer' } = authenticator
  const hook: onRequestAsyncHookHandler = async (request, reply) => {
    const verified = await verify(authenticator, request).catch((error: unknown) => {
      // HTTP demands it for each 401. Headers of the error replace it.
      if (statusOf(error) === 401) reply.header('www-authenticate', challenge)
      throw error
    })
    if (verified) claims.set(request, verified)
    else if (!isOptional) throw unauthenticated('The request has no credentials', challenge)
  }
  return { ...route, onRequest: [hook, ...[route.onRequest ?? []].flat()] as onRequestAsyncHookHandler[] }
}

async function verify(authenticator: Authenticator, request: FastifyRequest): Promise<Claims | undefined> {
  try {
    const verified: unknown = await authenticator.authenticate(request)
    // Rows of a database, even none, are no claims: a client without any row would be verified.
    if (!verified) return undefined
    if (!isRecord(verified)) throw invalidResult(verified)
    return verified
  } catch (cause) {
    // An error with a status is for the client. The message of any other one is for the log: it may have an address.
    if (statusOf(cause) !== undefined) throw cause
    throw new AuthenticationFailedError({ cause })
  }
}

function invalidResult(verified: unknown): TypeError {
  const got = Array.isArray(verified) ? 'an array' : `a ${typeof verified}`
  return new TypeError(`authenticate: expected an object of claims or undefined, got ${got}.`)
}

/** Returns the status that Fastify takes from an error. */
function statusOf(error: unknown): number | undefined {
  const { statusCode, status } = (error ?? {}) as { readonly statusCode?: unknown; readonly status?: unknown }
  return [statusCode, status].find((code): code is number => typeof code === 'number' && code >= 400)
}

/** The 401 for a client, with a `www-authenticate` header. */
export function unauthenticated(message: string, challenge: string, cause?: unknown): Error {
  const error = new UnauthenticatedError(message)
  return Object.assign(error, { headers: { 'www-authenticate': challenge } }, cause === undefined ? {} : { cause })
}
