// Verifies the JSON Web Tokens of clients.

import { checkOptions } from 'checked-options'
import { errors, jwtVerify, type JWTVerifyOptions } from 'jose'
import { InvalidOptionError, KeysUnavailableError } from '../errors.ts'
import type { Authenticator } from '../options/authentication.ts'
import { unauthenticated } from '../request/claims.ts'
import { type JwtAlgorithm, type JwtAuthenticationOptions, jwtSchema } from './jwt-options.ts'
import { KeysUnavailable, RemoteKeys } from './remote-keys.ts'

export type { JwtAlgorithm, JwtAuthenticationOptions }

/** A bearer token (RFC 6750, 2.1). */
const BEARER = /^Bearer +([\w\-.~+/]+=*)$/i

/**
 * Verifies the bearer tokens of clients by the public keys of their issuer.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION
 *
 * @example
 * const authentication = jwtAuthentication({
 *   jwksUrl: 'https://id.example.com/.well-known/jwks.json',
 *   issuer: 'https://id.example.com/',
 *   audience: 'dashboard',
 * })
 * const app = await createAggregatorGateway({ authentication, upstreams, endpoints })
 */
export function jwtAuthentication(options: JwtAuthenticationOptions): Authenticator {
  const resolved = checkOptions(jwtSchema, options, (message) => new InvalidOptionError(message))
  const { issuer, audience, algorithms, clockTolerance } = resolved
  const keys = new RemoteKeys(resolved)
  const expected: JWTVerifyOptions = {
    issuer,
    audience,
    algorithms: [...algorithms],
    clockTolerance: clockTolerance / 1000,
    // Without it, a token would be valid for ever.
    requiredClaims: ['exp'],
  }
  return {
    authenticate: async ({ headers: { authorization } }) => {
      if (authorization === undefined) return undefined
      const token = BEARER.exec(authorization)?.[1]
      if (token === undefined) throw unauthenticated('The authorization header has no bearer token', 'Bearer')
      try {
        const { payload } = await jwtVerify(token, keys.get, expected)
        return Object.freeze(payload)
      } catch (cause) {
        throw rejection(cause)
      }
    },
  }
}

function rejection(cause: unknown): Error {
  if (cause instanceof KeysUnavailable) {
    const error = new KeysUnavailableError("The token can't be verified now: its issuer is not available")
    return Object.assign(error, { headers: { 'retry-after': '1' }, cause })
  }
  const message = cause instanceof errors.JWTExpired ? 'The token has expired' : 'The token is invalid'
  return unauthenticated(message, 'Bearer error="invalid_token"', cause)
}
