// An issuer of tokens: its keys are served as a JWKS, and can be rotated, broken and slowed.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose'
import { upstream } from './servers.ts'

export const AUDIENCE = 'dashboard'

export interface Issuer {
  readonly url: string
  readonly jwksUrl: string
  /** Number of requests for the keys. */
  fetches: number
  /** How the keys are served; undefined for as usual. */
  respond: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  /** Replaces the key. */
  rotate: (kid: string) => Promise<void>
  token: (claims?: JWTPayload, header?: Partial<JWTHeaderParameters>) => Promise<string>
  /** The public key. */
  publicJwk: () => Promise<Record<string, unknown>>
}

export async function startIssuer(alg = 'ES256'): Promise<Issuer> {
  let kid = 'first'
  let pair = await generateKeyPair(alg, { extractable: true })
  const origin = await upstream((request, response) => {
    issuer.fetches++
    if (issuer.respond) return issuer.respond(request, response)
    void issuer.publicJwk().then((key) => response.end(JSON.stringify({ keys: [key] })))
  })
  const issuer: Issuer = {
    url: 'https://id.example.com/',
    jwksUrl: `${origin}/jwks.json`,
    fetches: 0,
    respond: undefined,
    rotate: async (next) => {
      kid = next
      pair = await generateKeyPair(alg, { extractable: true })
    },
    token: (claims = {}, header = {}) =>
      new SignJWT({
        iss: issuer.url,
        aud: AUDIENCE,
        sub: 'anna',
        exp: Math.floor(Date.now() / 1000) + 60,
        ...claims,
      })
        .setProtectedHeader({ alg, kid, ...header })
        .sign(pair.privateKey),
    publicJwk: async () => ({ ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' }),
  }
  return issuer
}
