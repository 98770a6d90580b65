import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect, it } from 'vitest'
import { plainCases, subjects, trpcCases } from '../suites/trpc.ts'

const { 'trpc-fastify': ours, 'official-adapter': adapter, 'official-standalone': standalone, ...others } = subjects
const { 'plain-fastify': plainFastify, 'plain-fastify-schema': withSchema, 'node-http': nodeHttp } = others

it('plain routes, the official adapters and ours give the same answers', async () => {
  const all = { plainFastify, withSchema, ours, adapter, standalone }
  await expect(race(all, { cases: plainCases })).toAnswerAlike()
  const { hello, article } = plainCases
  await expect(race({ nodeHttp, ours }, { cases: { hello, article } })).toAnswerAlike()
})

it('the official adapter and ours give the same answers to what only tRPC has', async () => {
  await expect(race({ adapter, ours }, { cases: trpcCases })).toAnswerAlike()
})

it('a lazy router answers its first call and its second', async () => {
  const health = { path: '/trpc/admin.health', expect: { body: '{"result":{"data":{"healthy":true}}}' } }
  await expect(race({ adapter, ours }, { cases: { first: health, second: health } })).toAnswerAlike()
})
