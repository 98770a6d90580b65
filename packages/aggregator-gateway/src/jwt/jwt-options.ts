import { custom, list, milliseconds, object, oneOf, optional, type OptionsSchema, string } from 'checked-options'

/** Algorithms with a public key. A shared secret is none: whoever knows the public key could sign with it. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const

/** An algorithm of signatures with a public key. */
export type JwtAlgorithm = (typeof ALGORITHMS)[number]

/** Options of {@link jwtAuthentication}. */
export interface JwtAuthenticationOptions {
  /** URL of the issuer's public keys (JWKS), such as `https://id.example.com/.well-known/jwks.json`. */
  jwksUrl: string
  /** Issuer of the tokens, which is their claim `iss`. */
  issuer: string
  /** Name of this API, which is one of the token's claim `aud`. */
  audience: string
  /** Algorithms that tokens may be signed by. @default ['RS256', 'PS256', 'ES256', 'EdDSA'] */
  algorithms?: readonly JwtAlgorithm[]
  /** Maximum difference of the issuer's clock, in milliseconds. @default 5000 */
  clockTolerance?: number
  /** Maximum duration of fetching the keys, in milliseconds. Clients that wait for keys get a 503 then. @default 2000 */
  timeout?: number
  /** Age of the keys from which on they are fetched again, in milliseconds. @default 600000 */
  maxAge?: number
  /** Maximum age of the keys while the issuer is down, in milliseconds. @default 3600000 */
  maxStaleAge?: number
  /** Minimum time between two fetches because of unknown keys, in milliseconds. @default 10000 */
  cooldown?: number
}

export type ResolvedJwtOptions = Required<JwtAuthenticationOptions>

const DEFAULT_ALGORITHMS: JwtAlgorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA']

export const jwtSchema: OptionsSchema<JwtAuthenticationOptions, ResolvedJwtOptions> = object({
  jwksUrl: custom<string>('a URL such as "https://id.example.com/.well-known/jwks.json"', isHttpUrl, {
    type: 'string',
  }),
  issuer: string(),
  audience: string(),
  algorithms: optional(list(oneOf(...ALGORITHMS)), DEFAULT_ALGORITHMS),
  clockTolerance: optional(milliseconds(0), 5000),
  timeout: optional(milliseconds(), 2000),
  maxAge: optional(milliseconds(), 600_000),
  maxStaleAge: optional(milliseconds(), 3_600_000),
  cooldown: optional(milliseconds(), 10_000),
})

function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value)
}
