import { createHmac, randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { exportSPKI, importJWK, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { jwtAuthentication, type JwtAuthenticationOptions } from '../../../src/jwt/jwt-authentication.ts'
import { AUDIENCE, type Issuer, startIssuer } from '../../helpers/issuer.ts'
import { gateway, jsonUpstream } from '../../helpers/servers.ts'

/** An app whose upstream echoes its path. */
async function appFor(issuer: Issuer, options: Partial<JwtAuthenticationOptions> = {}): Promise<FastifyInstance> {
  const origin = await jsonUpstream((path) => path)
  return await gateway({
    upstreams: { it: origin },
    authentication: jwtAuthentication({ jwksUrl: issuer.jwksUrl, issuer: issuer.url, audience: AUDIENCE, ...options }),
    endpoints: [{ path: '/me', calls: { one: { upstream: 'it', path: '/users/{claims.sub}' } } }],
  })
}

const ask = async (app: FastifyInstance, token: string | undefined): Promise<[number, unknown]> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { statusCode, json } = await app.inject({ url: '/me', headers })
  const body = json<{ one?: unknown; code?: string }>()
  return [statusCode, body.one ?? body.code]
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const inSeconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset
const UNAUTHENTICATED = [401, 'AGGREGATOR_GATEWAY_UNAUTHENTICATED']
const UNAVAILABLE = [503, 'AGGREGATOR_GATEWAY_KEYS_UNAVAILABLE']

it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])(
  'accepts a valid token by %s, and its claims are in templates',
  async (alg) => {
    const issuer = await startIssuer(alg)
    const app = await appFor(issuer)
    expect(await ask(app, await issuer.token())).toEqual([200, '/users/anna'])
    expect(await ask(app, await issuer.token({ sub: 'ben', aud: ['other', AUDIENCE] }))).toEqual([200, '/users/ben'])
    expect(issuer.fetches).toBe(1)
  },
)

describe('responds 401 to', () => {
  it.each<[string, (issuer: Issuer) => string | undefined | Promise<string>]>([
    ['a request without a token', () => undefined],
    ['an empty token', () => ''],
    ['a token that is none', () => 'abc'],
    [
      'a token with `alg: none`',
      ({ url }) =>
        new UnsecuredJWT({ sub: 'anna' }).setIssuer(url).setAudience(AUDIENCE).setExpirationTime('1h').encode(),
    ],
    [
      'a token with `alg: none` and a signature',
      async (issuer) => {
        const [, payload, signature] = (await issuer.token()).split('.')
        return `${base64url({ alg: 'none', kid: 'first' })}.${payload}.${signature}`
      },
    ],
    [
      'a token signed by the public key as a shared secret',
      async (issuer) => {
        const key = await importJWK(await issuer.publicJwk(), 'ES256', { extractable: true })
        const [, payload] = (await issuer.token()).split('.')
        const signed = `${base64url({ alg: 'HS256', kid: 'first' })}.${payload}`
        return `${signed}.${createHmac('sha256', await exportSPKI(key as never))
          .update(signed)
          .digest('base64url')}`
      },
    ],
    [
      'a token that brings its own key',
      async () => {
        const other = await startIssuer()
        return await other.token({}, { jwk: await other.publicJwk(), kid: 'other', jku: other.jwksUrl })
      },
    ],
    ['a token of another key with the same id', async () => await (await startIssuer()).token()],
    [
      'a token with a changed claim',
      async (issuer) => {
        const [header, , signature] = (await issuer.token()).split('.')
        const payload = { iss: issuer.url, aud: AUDIENCE, sub: 'ben', exp: inSeconds(60) }
        return `${header}.${base64url(payload)}.${signature}`
      },
    ],
    ['an expired token', (issuer) => issuer.token({ exp: inSeconds(-10) })],
    ['a token without an expiry', (issuer) => issuer.token({ exp: undefined as never })],
    ['a token of the future', (issuer) => issuer.token({ nbf: inSeconds(60) })],
    ['a token of another issuer', (issuer) => issuer.token({ iss: 'https://evil.example.com/' })],
    ['a token for another audience', (issuer) => issuer.token({ aud: 'other' })],
    ['a token without an audience', (issuer) => issuer.token({ aud: undefined as never })],
  ])('%s', async (_title, tokenOf) => {
    const issuer = await startIssuer()
    const app = await appFor(issuer)
    expect(await ask(app, await tokenOf(issuer))).toEqual(UNAUTHENTICATED)
  })

  it('a token by an algorithm that is not pinned', async () => {
    const issuer = await startIssuer()
    expect(await ask(await appFor(issuer, { algorithms: ['RS256'] }), await issuer.token())).toEqual(UNAUTHENTICATED)
    expect(await ask(await appFor(issuer, { algorithms: ['ES256'] }), await issuer.token())).toEqual([
      200,
      '/users/anna',
    ])
  })

  it.each(['Basic YTpi', 'Bearer', 'Bearer a b', 'bearer'])('the header %j', async (authorization) => {
    const app = await appFor(await startIssuer())
    const { statusCode, headers } = await app.inject({ url: '/me', headers: { authorization } })
    expect([statusCode, headers['www-authenticate']]).toEqual([401, 'Bearer'])
  })
})

it('tells an expired token, and no more', async () => {
  const issuer = await startIssuer()
  const app = await appFor(issuer)
  const messageFor = async (token: string) => {
    const { headers, json } = await app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
    return [headers['www-authenticate'], json<{ message: string }>().message]
  }
  expect(await messageFor(await issuer.token({ exp: inSeconds(-10) }))).toEqual([
    'Bearer error="invalid_token"',
    'The token has expired',
  ])
  expect(await messageFor(await issuer.token({ aud: 'other' }))).toEqual([
    'Bearer error="invalid_token"',
    'The token is invalid',
  ])
})

it('tolerates clocks that differ', async () => {
  const issuer = await startIssuer()
  const late = await issuer.token({ exp: inSeconds(-30) })
  expect((await ask(await appFor(issuer), late))[0]).toBe(401)
  expect((await ask(await appFor(issuer, { clockTolerance: 60_000 }), late))[0]).toBe(200)
  const early = await issuer.token({ nbf: inSeconds(30) })
  expect((await ask(await appFor(issuer), early))[0]).toBe(401)
  expect((await ask(await appFor(issuer, { clockTolerance: 60_000 }), early))[0]).toBe(200)
})

describe('keys', () => {
  it('that are rotated are fetched', async () => {
    const issuer = await startIssuer()
    const app = await appFor(issuer, { cooldown: 1 })
    const old = await issuer.token()
    expect((await ask(app, old))[0]).toBe(200)
    await issuer.rotate('second')
    expect((await ask(app, await issuer.token()))[0]).toBe(200)
    expect((await ask(app, old))[0]).toBe(401)
  })

  it('that are unknown cause one fetch for each cooldown, however many tokens name them', async () => {
    const issuer = await startIssuer()
    const app = await appFor(issuer, { cooldown: 60_000 })
    const unknown = await Promise.all(Array.from({ length: 50 }, () => issuer.token({}, { kid: randomUUID() })))
    expect((await ask(app, await issuer.token()))[0]).toBe(200)
    expect(new Set((await Promise.all(unknown.map((token) => ask(app, token)))).map(String))).toEqual(
      new Set([String(UNAUTHENTICATED)]),
    )
    expect(issuer.fetches).toBe(1)
  })

  it('that are unknown at the same time share a fetch', async () => {
    const issuer = await startIssuer()
    const app = await appFor(issuer, { cooldown: 1 })
    expect((await ask(app, await issuer.token()))[0]).toBe(200)
    await issuer.rotate('second')
    const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.token()))
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await Promise.all(tokens.map((token) => ask(app, token)))).every(([status]) => status === 200)).toBe(true)
    expect(issuer.fetches).toBe(2)
  })

  it('are used until they are too old while the issuer is down', async () => {
    const issuer = await startIssuer()
    const app = await appFor(issuer, { maxAge: 1, maxStaleAge: 1000 })
    const token = await issuer.token()
    expect((await ask(app, token))[0]).toBe(200)
    issuer.respond = (_request, response) => void response.writeHead(500).end()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await ask(app, token))[0]).toBe(200)
    await expect.poll(() => issuer.fetches).toBe(2)
    await expect.poll(() => ask(app, token)).toEqual(UNAVAILABLE)
  })

  it('that have expired are fetched in the background', async () => {
    const issuer = await startIssuer()
    const app = await appFor(issuer, { maxAge: 1 })
    const old = await issuer.token()
    expect((await ask(app, old))[0]).toBe(200)
    await issuer.rotate('second')
    // No token has named the new key.
    await expect.poll(() => ask(app, old)).toEqual(UNAUTHENTICATED)
  })
})

describe('responds 503 when the keys', () => {
  it.each<[string, NonNullable<Issuer['respond']>]>([
    ['fail', (_request, response) => void response.writeHead(500).end()],
    ['are gone', (request) => void request.socket.destroy()],
    ['are not JSON', (_request, response) => void response.end('<html>')],
    ['are no keys', (_request, response) => void response.end('{"keys":{}}')],
    ['are empty', (_request, response) => void response.end('{"keys":[]}')],
    ['are elsewhere', (_request, response) => void response.writeHead(302, { location: '/others' }).end()],
    ['are endless', (_request, response) => void response.end('x'.repeat(2_000_000))],
    ['do not come', () => {}],
    ['come slowly', (_request, response) => void response.write('{')],
  ])('%s', async (_title, respond) => {
    const issuer = await startIssuer()
    issuer.respond = respond
    const app = await appFor(issuer, { timeout: 200 })
    const token = await issuer.token()
    const responses = await Promise.all(Array.from({ length: 10 }, () => ask(app, token)))
    expect(responses).toEqual(responses.map(() => UNAVAILABLE))
    // Those after it get their response without a fetch.
    expect(await ask(app, token)).toEqual(UNAVAILABLE)
    expect(issuer.fetches).toBe(1)
    const { headers } = await app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
    expect(headers['retry-after']).toBe('1')
    issuer.respond = undefined
    await expect.poll(() => ask(app, token)).toEqual([200, '/users/anna'])
  })
})

it.each([
  [
    'Invalid option "jwksUrl": expected a URL such as "https://id.example.com/.well-known/jwks.json", got "x".',
    { jwksUrl: 'x' },
  ],
  ['Invalid option "audience": expected a string that is not empty, got "".', { audience: '' }],
  [
    'Invalid option "algorithms": expected an array, each item "RS256" or "RS384" or "RS512" or "PS256" or "PS384" or "PS512" or "ES256" or "ES384" or "ES512" or "EdDSA", got "RS256".',
    { algorithms: 'RS256' },
  ],
  ...['none', 'HS256'].map((alg): [string, object] => [
    `Invalid option "algorithms[0]": expected "RS256" or "RS384" or "RS512" or "PS256" or "PS384" or "PS512" or "ES256" or "ES384" or "ES512" or "EdDSA", got "${alg}".`,
    { algorithms: [alg] },
  ]),
  [
    'Invalid option "wrong": unknown. Known here: jwksUrl, issuer, audience, algorithms, clockTolerance, timeout, maxAge, maxStaleAge, cooldown.',
    { wrong: 1 },
  ],
])('%s', (message, options) => {
  const create = () => jwtAuthentication({ jwksUrl: 'https://a/b', issuer: 'a', audience: 'b', ...options })
  expect(create).toThrow(expect.objectContaining({ code: 'AGGREGATOR_GATEWAY_INVALID_OPTION', message }))
})
