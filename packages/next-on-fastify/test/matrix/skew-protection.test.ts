// Two builds of one app: a page of the first one is open while the second one is deployed.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../../clustered-server/src/index.ts'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

const APP = new URL('../fixtures/servers/skew.ts', import.meta.url)
const HOUR = 3_600_000

describe('after a deploy', () => {
  let server: ClusteredServer
  const dirs: string[] = []
  /** Path of a file that only the first build has. */
  let file: string | undefined

  beforeAll(async () => {
    for (const version of ['a', 'b']) dirs.push(await builtFixture(inject('peers'), { SKEW_VERSION: version }, 'skew'))
    server = await createClusteredServer(APP, {
      ...{ workers: 2, standby: false, port: 0, host: '127.0.0.1', signals: false, linger: { time: HOUR } },
      // As if the primary was started with the variable of an earlier deploy.
      env: (generation) => ({ NODE_ENV: 'production', NEXT_DIR: dirs[generation - 1]!, NEXT_DEPLOYMENT_ID: 'stale' }),
    })
    const filesOf = (page: string): string[] =>
      [...page.matchAll(/\/_next\/static\/[^"?\\]+\.js/g)].map(([path]) => path)
    const older = filesOf(await text('/'))
    await server.reload()
    const newer = filesOf(await text('/'))
    file = older.find((path) => !newer.includes(path))
  }, BUILD_TIMEOUT)
  afterAll(() => server?.close())

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { headers })
  const text = async (...args: Parameters<typeof get>): Promise<string> => (await get(...args)).text()

  it('serves documents by the new build', async () => {
    expect(await text('/')).toContain('Home of <!-- -->b')
    expect(await text('/next')).toContain('Next page of <!-- -->b')
    // A link of a stranger selects no build.
    expect(await text('/next?dpl=build-a')).toContain('Next page of <!-- -->b')
  })

  it('serves files of the older build to its pages', async () => {
    const status = async (query: string): Promise<number> => (await get(`${file}?${query}`)).status
    expect(await status('dpl=build-a')).toBe(200)
    for (const query of ['dpl=build-b', 'dpl=build-c', 'dpl=../build-a']) expect(await status(query)).toBe(404)
  })

  it('serves navigations of the App Router by the build that they name', async () => {
    const of = (id: string): Promise<string> => text('/next', { rsc: '1', 'x-deployment-id': id })
    expect(await of('build-a')).toContain('"Next page of ","a"')
    expect(await of('build-b')).toContain('"Next page of ","b"')
    expect(await of('unknown')).toContain('"Next page of ","b"')
  })

  it.each([
    ['pages', '/prerendered', {}, null, 'b'],
    ['navigations', '/prerendered?_rsc', { rsc: '1' }, 'build-b', 'b'],
    ['older navigations', '/prerendered?_rsc', { rsc: '1', 'x-deployment-id': 'build-a' }, 'build-a', 'a'],
  ])('serves %s from the response cache, of their build', async (_, path, headers, id, version) => {
    const cached = async (): Promise<object> => {
      const response = await get(path, headers)
      return {
        status: response.headers.get('cache-status'),
        id: response.headers.get('x-nextjs-deployment-id'),
        version: /Prerendered by (?:<!-- -->|",")(\w)/.exec(await response.text())?.[1],
      }
    }
    await expect.poll(cached, { timeout: 30_000 }).toEqual({ status: 'next-on-fastify; hit', id, version })
  })

  it('serves navigations of the Pages Router by the build that they name', async () => {
    for (const [index, version] of ['a', 'b'].entries()) {
      const buildId = readFileSync(join(dirs[index]!, '.next/BUILD_ID'), 'utf8')
      const headers = { 'x-nextjs-data': '1', 'x-deployment-id': `build-${version}` }
      const data = await (await get(`/_next/data/${buildId}/old/second.json`, headers)).json()
      expect(data).toMatchObject({ pageProps: { version } })
    }
  })

  it('runs server actions of the build that they name', async () => {
    for (const [index, version] of ['a', 'b'].entries()) {
      const manifest = join(dirs[index]!, '.next/server/server-reference-manifest.json')
      const { node } = JSON.parse(readFileSync(manifest, 'utf8')) as { node: object }
      const headers = { accept: 'text/x-component', 'next-action': Object.keys(node)[0]! }
      const response = await fetch(`http://127.0.0.1:${server.port}/`, {
        ...{ method: 'POST', body: '[]' },
        headers: { ...headers, 'content-type': 'text/plain;charset=UTF-8', 'x-deployment-id': `build-${version}` },
      })
      expect(await response.text()).toContain(`Action of ${version}`)
    }
  })

  it('sends forms without JavaScript to the new build, which runs the actions that it has', async () => {
    const [older, newer] = dirs.map((dir) => {
      const manifest = readFileSync(join(dir, '.next/server/server-reference-manifest.json'), 'utf8')
      return Object.keys((JSON.parse(manifest) as { node: object }).node)[0]!
    })
    const submit = async (action: string): Promise<string> => {
      const form = new FormData()
      form.set(`$ACTION_ID_${action}`, '')
      const response = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: form })
      return `${response.status} ${/Home of <!-- -->\w/.exec(await response.text())?.[0] ?? 'no page'}`
    }
    expect(await submit(newer!)).toBe('200 Home of <!-- -->b')
    expect(older).not.toBe(newer)
    expect(await submit(older!)).toBe(inject('peers') === 'newest' ? '409 no page' : '500 no page')
  })

  it('lets no shared cache serve a page of the older build to others', async () => {
    const { headers } = await get('/old/first', { 'x-deployment-id': 'build-a' })
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(headers.get('vary')).toMatch(/\bx-deployment-id$/)
  })
})
