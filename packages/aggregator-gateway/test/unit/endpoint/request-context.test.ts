// What an app keeps in an AsyncLocalStorage for a request is there in its hooks and observers, and nothing of another's.

import { AsyncLocalStorage } from 'node:async_hooks'
import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { type GatewayObserver, gatewayPlugin } from '../../../src/index.ts'
import type { EndpointOptions } from '../../../src/index.ts'
import { jsonUpstream, nobody } from '../../helpers/servers.ts'

const one = { upstream: 'it', path: '/{params.id}' }
const ENDPOINTS: readonly [what: string, endpoint: object, calls: number][] = [
  ['composed', { calls: { one } }, 1],
  ['composed by a function', { calls: { one }, compose: (values: object) => values }, 1],
  ['of calls that depend on each other', { calls: { one, two: { upstream: 'it', path: '/{calls.one.id}' } } }, 2],
  ['handed on', { passThrough: one }, 1],
  ['refused for a call that fails', { calls: { one: { upstream: 'nobody', path: '/' } } }, 1],
  ['refused for the request', { calls: { one: { upstream: 'it', path: '/{query.missing}' } } }, 0],
]

it.each(ENDPOINTS)('for a response that is %s', async (_, endpoint, calls) => {
  const origin = await jsonUpstream((path) => ({ id: path.slice(1) }))
  const storage = new AsyncLocalStorage<string>()
  const seen: [place: string, url: string, stored: string | undefined][] = []
  const app = Fastify()
  app.addHook('onRequest', (request, _reply, done) => storage.run(request.url, done))
  app.addHook('onSend', (request, _reply, _payload, done) => {
    seen.push(['onSend', request.url, storage.getStore()])
    done()
  })
  app.addHook('onResponse', (request, _reply, done) => {
    seen.push(['onResponse', request.url, storage.getStore()])
    done()
  })
  const observer: GatewayObserver<string> = {
    callStarted: (_call, { url }) => {
      seen.push(['callStarted', url, storage.getStore()])
      return url
    },
    callEnded: (_call, _end, url) => void seen.push(['callEnded', url, storage.getStore()]),
  }
  await app.register(gatewayPlugin, {
    upstreams: {
      it: { origin, maxConnections: 1 },
      nobody: { origin: await nobody(), maxConnections: 1, circuitBreaker: false },
    },
    endpoints: [{ path: '/:id', ...endpoint } as EndpointOptions],
    observers: [observer],
  })
  const origins = await app.listen({ port: 0, host: '127.0.0.1' })
  const paths = ['/a', '/b', '/c', '/d', '/e', '/f']
  await Promise.all(paths.map((path) => fetch(`${origins}${path}`).then((answer) => answer.text())))
  await app.close()
  expect(seen.filter(([, url, stored]) => url !== stored)).toEqual([])
  expect(seen).toHaveLength(paths.length * (2 + 2 * calls))
})

it('for coalesced requests', async () => {
  const origin = await jsonUpstream((path) => path)
  const storage = new AsyncLocalStorage<string>()
  const seen: [id: unknown, stored: string | undefined][] = []
  const app = Fastify()
  app.addHook('onRequest', (request, _reply, done) => storage.run(request.id, done))
  app.addHook('onSend', (request, _reply, _payload, done) => {
    seen.push([request.id, storage.getStore()])
    done()
  })
  await app.register(gatewayPlugin, {
    upstreams: { it: origin },
    endpoints: [{ path: '/', coalesce: true, calls: { one: { upstream: 'it', path: '/' } } }],
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  await Promise.all([1, 2, 3].map(() => app.inject('/')))
  await app.close()
  expect(seen.filter(([id, stored]) => id !== stored)).toEqual([])
  expect(seen).toHaveLength(3)
})
