import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FastifyInstance } from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { BUILD_TIMEOUT, builtFixture } from '../built-fixture.ts'

let app: FastifyInstance

beforeAll(async () => {
  process.env['NODE_ENV'] = 'production'
  app = await createNextOnFastify({ dir: await builtFixture('newest') })
  app.get('/api/test', async () => ({ message: 'hello' }))
}, BUILD_TIMEOUT)
afterAll(() => app.close())

describe('what no route of the app answers', () => {
  it('is answered by Next', async () => {
    const { statusCode, body } = await app.inject('/static')
    expect([statusCode, body.includes('<h1>Static</h1>')]).toEqual([200, true])
  })

  it('has its body read by Next and by nobody before', async () => {
    const answer = await app.inject({ method: 'POST', url: '/echo?a=b', payload: { some: 'thing' } })
    expect(answer.json()).toMatchObject({ method: 'POST', path: '/echo?a=b', body: '{"some":"thing"}' })
  })
})

it('a route of the app wins over Next', async () => {
  expect((await app.inject('/api/test')).json()).toEqual({ message: 'hello' })
})
