// The real @fastify/rate-limit beside authentication: which requests it counts, as docs/routes.md says.

import rateLimit, { type RateLimitOptions } from '@fastify/rate-limit'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { type Authenticator, claimsOf, gatewayPlugin } from '../../../src/index.ts'
import { jsonUpstream } from '../../helpers/servers.ts'

const timeWindow = '1 minute'
const authentication: Authenticator = {
  authenticate: async ({ headers }) => {
    if (headers['x-key'] === 'wrong') throw Object.assign(new Error('The API key is invalid'), { statusCode: 401 })
    return { sub: headers['x-key'] }
  },
}

async function limited(ofApp: RateLimitOptions | undefined, ofRoute: RateLimitOptions): Promise<FastifyInstance> {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(rateLimit, { global: false })
  if (ofApp) app.addHook('onRequest', app.rateLimit(ofApp))
  const calls = { one: { upstream: 'it', path: '/' } }
  await app.register(gatewayPlugin, {
    upstreams: { it: await jsonUpstream(() => 1) },
    authentication,
    endpoints: [{ path: '/', calls, route: { config: { rateLimit: ofRoute } } }],
  })
  return app
}

async function statuses(app: FastifyInstance, keys: readonly string[]): Promise<number[]> {
  const all: number[] = []
  for (const key of keys) all.push((await app.inject({ url: '/', headers: { 'x-key': key } })).statusCode)
  return all
}

it('the limit of a route counts verified clients only, and can be for each of them', async () => {
  const app = await limited(undefined, {
    max: 1,
    timeWindow,
    keyGenerator: (request) => String(claimsOf(request)?.['sub']),
  })
  expect(await statuses(app, ['wrong', 'wrong', 'anna', 'bob', 'anna'])).toEqual([401, 401, 200, 200, 429])
})

it('a hook of the app counts rejected clients, in place of the limit of a route', async () => {
  const app = await limited({ max: 4, timeWindow }, { max: 1, timeWindow })
  expect(await statuses(app, ['wrong', 'wrong', 'anna', 'anna', 'wrong', 'anna'])).toEqual([
    401, 401, 200, 200, 429, 429,
  ])
})
