import { createNextOnFastify } from 'next-on-fastify'
import { expect, it, onTestFinished } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

it(
  'serves pages of a build, from its response cache too, and routes of Fastify',
  { timeout: BUILD_TIMEOUT },
  async () => {
    process.env['NODE_ENV'] = 'production'
    const app = await createNextOnFastify({ dir: await builtFixture('newest') })
    onTestFinished(() => app.close())
    app.get('/api/test', async () => ({ hello: 'fastify' }))
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const ask = async (path: string): Promise<[number, string]> => {
      const response = await fetch(origin + path)
      return [response.status, await response.text()]
    }
    const first = await ask('/static')
    expect(first).toEqual([200, expect.stringContaining('<h1>Static</h1>')])
    expect(await ask('/static')).toEqual(first)
    expect(await ask('/api/test')).toEqual([200, '{"hello":"fastify"}'])
    expect((await ask('/none'))[0]).toBe(404)
  },
)
