// Files of a build whose `assetPrefix` has a path outside of its `basePath`, as with a CDN that has this server as its origin.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createNextOnFastify } from 'next-on-fastify'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

afterEach(() => vi.unstubAllEnvs())

const ASSETS = 'https://cdn.example/static-files'

it(
  'serves files of the build at the path of assetPrefix, and no pages, unless a route does',
  { timeout: BUILD_TIMEOUT },
  async () => {
    const env = { ZONE: 'shop', ASSETS }
    const dir = await builtFixture('newest', env, 'zone')
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    const app = await createNextOnFastify({ dir, dev: false, prefix: '/shop' })
    onTestFinished(() => app.close())
    const status = async (url: string): Promise<number> => (await app.inject(url)).statusCode
    const file = readdirSync(join(dir, '.next/static/chunks')).find((name) => name.endsWith('.js'))
    expect((await app.inject('/shop')).body).toContain(`${ASSETS}/_next/static/`)
    for (const path of ['/shop', '/static-files']) expect(await status(`${path}/_next/static/chunks/${file}`)).toBe(200)
    for (const path of ['/static-files', '/static-files/timed', '/static-files/_next/missing', '/_next/static/x.js']) {
      expect([path, await status(path)]).toEqual([path, 404])
    }
    const other = await createNextOnFastify({ dir, dev: false, prefix: '/shop' })
    onTestFinished(() => other.close())
    other.get('/static-files/_next/*', async () => 'own')
    expect((await other.inject('/static-files/_next/a.js')).body).toBe('own')
  },
)
