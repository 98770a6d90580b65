// What is asked of a memory in an app whose paths are spelled in another way, with the newest and with the lowest Next.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT, type Peers } from './built-fixture.ts'
import { comparable, twoServers, type Question, type TwoServers } from './two-servers.ts'

interface Spelling {
  /** How a page is asked for, and how a file. */
  readonly page: (path: string) => string
  readonly file: (path: string) => string
  /** What Next leads elsewhere, or has nothing for. */
  readonly others: readonly string[]
}

const spellings = {
  basePath: {
    page: (path) => (path === '/' ? '/base' : `/base${path}`),
    file: (path) => `/base${path}`,
    others: [
      '/',
      '/plain',
      '/hello.txt',
      '/base/',
      '/base/plain/',
      '/basement/plain',
      '/base/base/plain',
      '/BASE/plain',
    ],
  },
  trailingSlash: {
    page: (path) => (path === '/' ? '/' : `${path}/`),
    file: (path) => path,
    others: ['/plain', '/ps', '/hello.txt/', '/routes/json', '/plain//', '/_next/static'],
  },
} satisfies Readonly<Record<string, Spelling>>

/** What a memory does with any Next. Each runs in a process of its own: Next 15 has one place for middleware. */
export function describeVariant(peers: Peers, variant: keyof typeof spellings): void {
  const { page, file, others } = spellings[variant]
  describe(`an app with ${variant}`, () => {
    let servers: TwoServers
    let built: string[]
    beforeAll(async () => {
      servers = await twoServers(peers, { proxied: 'unmatched' }, {}, undefined, variant)
      const read = (name: string): string => readFileSync(join(servers.dir, '.next', name), 'utf8')
      const { rootMainFiles } = JSON.parse(read('build-manifest.json')) as { rootMainFiles: string[] }
      built = [`/_next/data/${read('BUILD_ID')}/ps.json`, `/_next/static/${read('BUILD_ID')}/_buildManifest.js`]
      built.push(`/_next/${rootMainFiles[0]}`)
    }, BUILD_TIMEOUT)
    afterAll(() => servers?.close())

    /** How many of three answers came from memory. All of them are Next's. */
    async function hits(question: Question): Promise<number> {
      const before = servers.counts().hits
      for (let turn = 0; turn < 3; turn++) {
        const [kept, next] = [await servers.kept(question), await servers.next(question)]
        expect({ question, ...comparable(kept) }).toEqual({ question, ...comparable(next) })
      }
      return servers.counts().hits - before
    }

    it('serves pages and files from the cache', async () => {
      const pages = ['/', '/plain', '/ps', '/still', '/routes/json'].map(page)
      const files = ['/hello.txt', '/big.txt', ...built].map(file)
      for (const path of [...pages, ...files]) {
        for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
          expect([path, await hits({ path, headers })]).toEqual([path, 2])
        }
        expect([path, await hits({ path, method: 'HEAD' })]).toEqual([path, 2])
      }
    })

    it('sends 304 from the cache', async () => {
      for (const path of [...['/', '/plain', '/ps', '/still'].map(page), ...['/hello.txt', ...built].map(file)]) {
        const { head } = await servers.next({ path })
        const etag = head.find(([name]) => name === 'ETag')?.[1]
        expect([path, await hits({ path, headers: { 'if-none-match': etag } })]).toEqual([path, 2])
      }
    })

    it('lets Next respond to other spellings of a path', async () => {
      for (const path of others) expect([path, await hits({ path })]).toEqual([path, 0])
    })

    it('has rules of its configuration obeyed', async () => {
      for (const path of ['/by-cookie', '/by-header', '/by-host', '/by-query', '/alias'].map(page)) {
        expect([path, await hits({ path })]).toEqual([path, 0])
      }
      const path = page('/ps')
      expect((await servers.kept({ path })).head).toContainEqual(['x-of-config', 'yes'])
    })

    it('serves no page without middleware', async () => {
      const path = page('/guarded')
      const answers = []
      for (const headers of [{ cookie: 'user=1' }, {}, { cookie: 'user=1' }, {}]) {
        answers.push(await servers.kept({ path, headers }))
      }
      expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 401])
    })
  })
}
