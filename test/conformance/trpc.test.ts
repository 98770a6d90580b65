import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect, it } from 'vitest'
import { bothProtocols, plainCases, restCases, subjects, trpcCases } from '../suites/trpc.ts'

const {
  'trpc-fastify': ours,
  'trpc-fastify-rest': rest,
  'official-adapter': adapter,
  'official-standalone': standalone,
  ...others
} = subjects
const { 'plain-fastify': plainFastify, 'plain-fastify-schema': withSchema, 'node-http': nodeHttp } = others
const { 'hono-trpc': hono, orpc } = others

it('plain routes, the official adapters and ours give the same answers', async () => {
  const all = { plainFastify, withSchema, ours, adapter, standalone, hono }
  await expect(race(all, { cases: plainCases })).toHaveSameResponses()
  const { hello, article } = plainCases
  await expect(race({ nodeHttp, ours }, { cases: { hello, article } })).toHaveSameResponses()
})

it('plain routes and those of procedures give the same REST responses', async () => {
  await expect(race({ plainFastify, rest }, { cases: restCases })).toHaveSameResponses()
})

it('oRPC gives the same data', async () => {
  const all = { plainFastify, withSchema, ours, adapter, standalone, hono, orpc }
  await expect(race(all, { cases: bothProtocols })).toHaveSameResponses()
})

it('the official adapter, Hono and ours give the same answers to what only tRPC has', async () => {
  await expect(race({ adapter, hono, ours }, { cases: trpcCases })).toHaveSameResponses()
})

it('a lazy router answers its first call and its second', async () => {
  const health = { path: '/trpc/admin.health', expect: { body: '{"result":{"data":{"healthy":true}}}' } }
  await expect(race({ adapter, hono, ours }, { cases: { first: health, second: health } })).toHaveSameResponses()
})
