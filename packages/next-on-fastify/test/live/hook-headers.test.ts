// In a process of its own, as each app is.

import { expect, it } from 'vitest'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { twoServers } from '../helpers/two-servers.ts'

it(
  'headers of the app are those of each request, and not of the one that was learned from',
  async () => {
    let requests = 0
    const servers = await twoServers('newest', { proxied: 'unmatched', cacheStatus: true }, {}, (app) => {
      app.addHook('onRequest', async (_, reply) => {
        reply.header('x-turn', String(++requests))
      })
    })
    const heads = [await servers.kept({ path: '/' }), await servers.kept({ path: '/' })].map(({ head }) => head)
    expect(heads.map((head) => head.find(([name]) => name === 'x-turn')?.[1])).toEqual(['1', '2'])
    expect(heads.map((head) => head.find(([name]) => name === 'Cache-Status')?.[1])).toEqual([
      'next-on-fastify; fwd=miss; stored',
      'next-on-fastify; hit',
    ])
    await servers.close()
  },
  BUILD_TIMEOUT,
)
