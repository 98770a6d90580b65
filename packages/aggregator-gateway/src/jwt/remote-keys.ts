// The public keys of an issuer, fetched from its JWKS URL. Clients can't make the gateway flood the issuer: one fetch runs at
// a time, unknown keys wait for a cooldown, and a failed fetch is not repeated for a second.

import { AsyncLocalStorage } from 'node:async_hooks'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { UpstreamFault } from '../errors.ts'
import type { ResolvedJwtOptions } from './jwt-options.ts'

/** Milliseconds after a failed fetch in which there is no other. */
const RETRY_DELAY = 1000
const MAX_BYTES = 1_048_576

/** The keys can't be fetched, so no token can be verified. */
export class KeysUnavailable extends UpstreamFault {}

export class RemoteKeys {
  readonly #options: ResolvedJwtOptions
  /** A socket keeps the async context that it was made in, which must not be a request's. */
  readonly #inAppContext = AsyncLocalStorage.snapshot()
  #keys: JWTVerifyGetKey | undefined
  /** Times of `performance.now()`. */
  #fetchedAt = Number.NEGATIVE_INFINITY
  #failedAt = Number.NEGATIVE_INFINITY
  #failure: KeysUnavailable | undefined
  #fetching: Promise<JWTVerifyGetKey> | undefined

  constructor(options: ResolvedJwtOptions) {
    this.#options = options
  }

  /** The key for the header of a token, as jose calls for it. */
  readonly get: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current()
    try {
      return await keys(header, token)
    } catch (cause) {
      // The issuer may have new keys.
      if (!(cause instanceof errors.JWKSNoMatchingKey) || this.#age < this.#options.cooldown) throw cause
    }
    const renewed = await this.#fetch()
    return await renewed(header, token)
  }

  /** Keys that are not too old. They are fetched again in the background, before they are. */
  async #current(): Promise<JWTVerifyGetKey> {
    const { maxAge, maxStaleAge } = this.#options
    if (!this.#keys || this.#age > maxStaleAge) return await this.#fetch()
    if (this.#age > maxAge) void this.#fetch().catch(ignore)
    return this.#keys
  }

  get #age(): number {
    return performance.now() - this.#fetchedAt
  }

  async #fetch(): Promise<JWTVerifyGetKey> {
    if (this.#failure && performance.now() - this.#failedAt < RETRY_DELAY) throw this.#failure
    this.#fetching ??= this.#inAppContext(() => this.#fetchNow())
    return await this.#fetching
  }

  async #fetchNow(): Promise<JWTVerifyGetKey> {
    const { jwksUrl, timeout } = this.#options
    try {
      this.#keys = createLocalJWKSet(await keySetOf(jwksUrl, timeout))
      this.#fetchedAt = performance.now()
      this.#failure = undefined
      return this.#keys
    } catch (cause) {
      this.#failedAt = performance.now()
      this.#failure = new KeysUnavailable(`The keys of ${jwksUrl} can't be fetched`, { cause })
      throw this.#failure
    } finally {
      this.#fetching = undefined
    }
  }
}

async function keySetOf(url: string, timeout: number): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    // Keys of another place are keys of another issuer.
    redirect: 'error',
    signal: AbortSignal.timeout(timeout),
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new UpstreamFault(`It responded ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new UpstreamFault(`It responded with more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  const keySet = JSON.parse(Buffer.concat(chunks).toString()) as JSONWebKeySet
  // A response without keys would reject all clients.
  if (!Array.isArray(keySet.keys) || keySet.keys.length === 0) throw new UpstreamFault('It responded without keys')
  return keySet
}

function ignore(): void {}
