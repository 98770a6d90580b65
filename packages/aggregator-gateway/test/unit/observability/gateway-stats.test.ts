import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { gatewayPlugin } from '../../../src/index.ts'
import { gateway, jsonUpstream, nobody } from '../../helpers/servers.ts'

const app = (): FastifyInstance => {
  const created = Fastify()
  onTestFinished(() => created.close())
  return created
}

it('app.gatewayStats() returns the response of the status route', async () => {
  const upstreams = { it: await jsonUpstream(() => 1) }
  const one = await gateway({ upstreams, endpoints: [], status: true })
  expect(one.gatewayStats()).toEqual((await one.inject('/__gateway')).json())
  expect(one.gatewayStats()!.upstreams['it']).toHaveLength(1)
})

it('app.gatewayStats(prefix) returns the stats of the gateway with that prefix', async () => {
  const parent = app()
  const origin = await nobody()
  await parent.register(gatewayPlugin, { prefix: '/a', upstreams: { one: origin }, endpoints: [] })
  await parent.register(gatewayPlugin, { prefix: '/b', upstreams: { two: origin }, endpoints: [] })
  expect(Object.keys(parent.gatewayStats('/a')!.upstreams)).toEqual(['one'])
  expect(Object.keys(parent.gatewayStats('/b')!.upstreams)).toEqual(['two'])
  expect(parent.gatewayStats()).toBeUndefined()
})

it('gateways with the same prefix share their stats', async () => {
  const parent = app()
  const origin = await nobody()
  await parent.register(gatewayPlugin, { upstreams: { one: origin }, endpoints: [] })
  await parent.register(gatewayPlugin, { upstreams: { two: origin }, endpoints: [] })
  expect(Object.keys(parent.gatewayStats()!.upstreams)).toEqual(['one', 'two'])
})

it('a gateway within a plugin has the prefixes of both', async () => {
  const parent = app()
  const origin = await nobody()
  await parent.register(
    async (scope) => {
      await scope.register(gatewayPlugin, { prefix: '/b', upstreams: { it: origin }, endpoints: [] })
      expect(Object.keys(scope.gatewayStats('/a/b')!.upstreams)).toEqual(['it'])
    },
    { prefix: '/a' },
  )
  await parent.ready()
  expect.assertions(1)
})
