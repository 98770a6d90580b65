import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { describeMemory } from '../memory-behaviour.ts'
import { twoServers } from '../two-servers.ts'

describeMemory('newest')

it('nothing is kept of an app that has a proxy, unless told', async () => {
  const warned: string[] = []
  const stream = { write: (line: string) => void warned.push((JSON.parse(line) as { msg: string }).msg) }
  const servers = await twoServers('newest', {}, { logger: { level: 'warn', stream } })
  expect(servers.app.nextMemory.size).toBe(0)
  expect(warned).toContain('nothing of this Next app is kept: it has middleware, and `proxyMemory` is not set')
  await servers.close()
  expect(existsSync(servers.dir)).toBe(false)
})

describe('headers of the app', () => {
  it('are those of each request, and not of the one that was learned from', async () => {
    let requests = 0
    const servers = await twoServers('newest', { proxyMemory: true, explain: true }, {}, (app) => {
      app.addHook('onRequest', async (_, reply) => {
        reply.header('x-turn', String(++requests))
      })
    })
    const heads = [await servers.kept({ path: '/' }), await servers.kept({ path: '/' })].map(({ head }) => head)
    expect(heads.map((head) => head.find(([name]) => name === 'x-turn')?.[1])).toEqual(['1', '2'])
    expect(heads.map((head) => head.find(([name]) => name === 'x-next-on-fastify')?.[1])).toEqual(['miss', 'hit'])
    await servers.close()
  })
})
