import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import Fastify from 'fastify'
import { type ResolvedResponseCacheOptions } from '../../../src/options/schema.ts'
import { createResponseCache } from '../../../src/response-cache/create-response-cache.ts'
import { cacheLimits } from '../../helpers/cache-limits.ts'
import { readBuild } from '../../../src/next/build/cacheable-build.ts'

const FILES = {
  'routes-manifest.json': { redirects: [], headers: [], rewrites: { beforeFiles: [], afterFiles: [], fallback: [] } },
  'prerender-manifest.json': { routes: { '/': { initialRevalidateSeconds: false } } },
  'server/middleware-manifest.json': { middleware: {} },
  'server/functions-config-manifest.json': { functions: {} },
  'server/pages-manifest.json': { '/404': 'pages/404.html', '/a': 'pages/a.html', '/b': 'pages/b.js' },
}

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** A build with a Next that has this configuration and nothing else. */
function aBuild(
  config: object = {},
  files: Partial<Record<keyof typeof FILES, unknown>> = {},
  version = '16.0.0',
): string {
  const dir = mkdtempSync(join(tmpdir(), 'next-on-fastify-'))
  folders.push(dir)
  const write = (path: string, content: string): void => {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  write('package.json', '{}')
  write('node_modules/next/package.json', JSON.stringify({ version }))
  const loaded = JSON.stringify({ distDir: 'build', basePath: '', i18n: null, ...config })
  write(`node_modules/next/dist/server/lib/incremental-cache/file-system-cache.js`, 'exports.default = undefined')
  write('node_modules/next/dist/server/lib/etag.js', 'exports.generateETag = (text) => text.length')
  write('node_modules/next/dist/server/config.js', `exports.default = async () => (${loaded})`)
  for (const [name, content] of Object.entries({ ...FILES, ...files })) {
    if (content !== undefined) write(join('build', name), JSON.stringify(content))
  }
  return dir
}

/** What is logged of an app that nothing is kept of. */
async function whyNot(
  dir: string,
  options: Partial<ResolvedResponseCacheOptions> = {},
  hasOwnUseCache = false,
): Promise<string[]> {
  const messages: string[] = []
  const stream = { write: (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg) }
  const { log } = Fastify({ logger: { level: 'warn', stream } })
  expect(
    await createResponseCache(dir, { ...cacheLimits(), proxied: 'never', ...options }, log, { hasOwnUseCache }),
  ).toBeUndefined()
  return messages
}

describe('the response cache is off for an app', () => {
  it.each<[string, object]>([
    ['assetPrefix', { assetPrefix: 'https://cdn.example' }],
    ['assetPrefix', { basePath: '/docs', assetPrefix: '/assets' }],
    ['i18n.domains', { i18n: { locales: ['en'], defaultLocale: 'en', domains: [{ domain: 'example.com' }] } }],
    ['skipTrailingSlashRedirect', { skipTrailingSlashRedirect: true }],
    ['cacheComponents', { cacheComponents: true }],
    ['cacheHandler', { cacheHandler: '/handler.js' }],
    ['cacheHandlers', { cacheHandlers: { remote: '/handler.js' } }],
    ['experimental.ppr', { experimental: { ppr: 'incremental' } }],
    ['experimental.useCache', { experimental: { useCache: true } }],
  ])('that has %s in its configuration', async (name, config) => {
    expect(await whyNot(aBuild(config))).toEqual([
      `response cache disabled for this Next app: its configuration has "${name}"`,
    ])
  })

  it.each([...Object.keys(FILES)] as (keyof typeof FILES)[])('whose build has no %s', async (name) => {
    expect(await whyNot(aBuild({}, { [name]: undefined }))).toEqual([
      'response cache disabled for this Next app: unrecognized build output',
    ])
  })

  it.each([...Object.keys(FILES)] as (keyof typeof FILES)[])('whose build has another %s', async (name) => {
    expect(await whyNot(aBuild({}, { [name]: name.includes('pages') ? null : {} }))).toEqual([
      'response cache disabled for this Next app: unrecognized build output',
    ])
  })

  it('whose Next keeps its files elsewhere', async () => {
    expect(await whyNot(aBuild())).toEqual(['response cache disabled for this Next app: its Next has no file cache'])
  })

  it.each<[string, keyof typeof FILES, object]>([
    ['middleware', 'server/middleware-manifest.json', { middleware: { '/': { matchers: [] } } }],
    ['a proxy', 'server/functions-config-manifest.json', { functions: { '/_middleware': { matchers: [] } } }],
  ])('that has %s', async (_, file, content) => {
    expect(await whyNot(aBuild({}, { [file]: content }))).toEqual([
      'response cache disabled for this Next app: it has middleware, and "responseCache.proxied" is "never"',
    ])
  })
})

describe('a rule with a condition', () => {
  const has = [{ type: 'cookie', key: 'vip' }]
  const all = '^(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))?(?:/)?$'
  const internal = { regex: all, internal: true, has }
  const warningsOf = async (more: object): Promise<string[]> => {
    const messages = await whyNot(aBuild({}, { 'routes-manifest.json': { ...FILES['routes-manifest.json'], ...more } }))
    return messages.filter((message) => message.startsWith('no page'))
  }

  it.each([
    ['headers', { headers: [{ regex: '^/a$' }, { regex: all, has }] }, 'headers[1]'],
    ['headers, for all but some paths', { headers: [{ regex: '^/((?!api/).*)$', missing: has }] }, 'headers[0]'],
    ['redirects', { redirects: [internal, { regex: all, has }] }, 'redirects[0]'],
    [
      'rewrites',
      { rewrites: { beforeFiles: [], afterFiles: [{ regex: all, has }], fallback: [] } },
      'rewrites.afterFiles[0]',
    ],
    ['rewrites in one list', { rewrites: [{ regex: all, has }] }, 'rewrites.afterFiles[0]'],
  ])('in %s that matches any path is named in a warning', async (_, routes, rule) => {
    expect(await warningsOf(routes)).toEqual([
      `no page is cached: the condition of ${rule} in next.config decides about every path`,
    ])
  })

  it.each([
    ['that matches some paths', { headers: [{ regex: '^/a(?:/.*)?$', has }] }],
    ['that is not there', { headers: [{ regex: all }] }],
    ['of Next itself', { redirects: [internal] }],
  ])('%s causes no warning', async (_, routes) => {
    expect(await warningsOf(routes)).toEqual([])
  })
})

it('knows completely prerendered pages', async () => {
  const routes = {
    '/': { initialRevalidateSeconds: false },
    '/post/1': { initialRevalidateSeconds: 60, renderingMode: 'STATIC' },
    '/holes': { initialRevalidateSeconds: false, renderingMode: 'PARTIALLY_STATIC' },
  }
  const dir = aBuild({ basePath: '/docs' }, { 'prerender-manifest.json': { routes } })
  const { isMade } = await readBuild(dir, { allowsMiddleware: false })
  const paths = ['/docs', '/docs/post/1', '/docs/post/1/', '/docs/a', '/docs/_next/static/a.js']
  const others = ['/', '/docs/post/2', '/docs/holes', '/docs/b', '/_next/static/a.js', '/post/1', '/docs/constructor']
  expect([paths.filter(isMade), others.filter(isMade)]).toEqual([paths, []])
})

describe('an app with `cacheComponents`', () => {
  const IS_BOT = 'node_modules/next/dist/shared/lib/router/utils/is-bot.js'
  const config = { cacheComponents: true, htmlLimitedBots: 'Slow|Old', experimental: { useCache: true } }
  const withBots = (files = {}, version = '16.4.0', own: object = config): string => {
    const dir = aBuild(own, files, version)
    mkdirSync(join(dir, IS_BOT, '..'), { recursive: true })
    writeFileSync(join(dir, IS_BOT), 'exports.isBot = (agent) => /Crawler/.test(agent)')
    return dir
  }

  it('tells bots apart, by its own pattern and by that of Next', async () => {
    const { isBot } = await readBuild(withBots(), { allowsMiddleware: false })
    const agents = ['a slowbot', 'Crawler/1.0', 'Mozilla/5.0', '', undefined]
    expect(agents.map(isBot)).toEqual([true, true, false, false, false])
    // Patterns take long for a name that is, so that one is left to Next.
    expect([isBot('x'.repeat(512)), isBot('x'.repeat(513))]).toEqual([false, true])
  })

  it('treats no client as a bot without cacheComponents', async () => {
    const { isBot } = await readBuild(aBuild({ htmlLimitedBots: 'Slow' }), { allowsMiddleware: false })
    expect(isBot('a slowbot')).toBe(false)
  })

  it.each([
    ['16.3.9', 'its configuration has "cacheComponents"'],
    ['15.9.0', 'its configuration has "cacheComponents"'],
  ])('has no memory with Next %s', async (version, why) => {
    expect(await whyNot(withBots({}, version))).toEqual([`response cache disabled for this Next app: ${why}`])
  })

  it('has no response cache with middleware', async () => {
    const proxied = { 'server/functions-config-manifest.json': { functions: { '/_middleware': { matchers: [] } } } }
    for (const option of ['unmatched', 'always'] as const) {
      expect(await whyNot(withBots(proxied), { proxied: option })).toEqual([
        'response cache disabled for this Next app: it has middleware and "cacheComponents"',
      ])
    }
  })

  it("has no response cache with a shared cache that 'use cache' is not in", async () => {
    expect(await whyNot(withBots(), {}, true)).toEqual([
      'response cache disabled for this Next app: it has "cacheComponents", and its processes do not share \'use cache\'',
    ])
  })

  it('has no response cache if bots are unknown', async () => {
    const why = ['response cache disabled for this Next app: unrecognized build output']
    const dir = withBots()
    writeFileSync(join(dir, IS_BOT), 'exports.isCrawler = () => false')
    expect(await whyNot(dir)).toEqual(why)
    const { htmlLimitedBots: _, ...withoutPattern } = config
    expect(await whyNot(withBots({}, '16.4.0', withoutPattern))).toEqual(why)
  })
})

describe('Next responds to each request of a path', () => {
  const has = [{ type: 'cookie', key: 'a' }]
  const conditional = async (files: Partial<Record<keyof typeof FILES, unknown>>): Promise<(path: string) => boolean> =>
    (await readBuild(aBuild({}, files), { allowsMiddleware: true })).isConditional
  const routes = (more: object): Partial<Record<keyof typeof FILES, unknown>> => ({
    'routes-manifest.json': { ...FILES['routes-manifest.json'], ...more },
  })

  it.each([
    ['redirects', { redirects: [{ regex: '^/a$', has }] }],
    ['headers', { headers: [{ regex: '^/a$', missing: has }] }],
    ['headers of later', { onMatchHeaders: [{ regex: '^/a$', has }] }],
    ['rewrites', { rewrites: [{ regex: '^/a$', has }] }],
    ['rewrites before files', { rewrites: { beforeFiles: [{ regex: '^/a$', has }], afterFiles: [], fallback: [] } }],
  ])('that %s may treat by more than its name', async (_, more) => {
    const isConditional = await conditional(routes(more))
    expect(['/a', '/A', '/b'].map(isConditional)).toEqual([true, true, false])
  })

  const rsc = { type: 'header', key: 'rsc', value: '1' }

  it.each([
    ['headers', 'has a header of its key', { has: [rsc] }, false],
    ['onMatchHeaders', 'has a header of its key', { has: [{ ...rsc, key: 'RSC' }] }, false],
    ['onMatchHeaders', 'lacks a header of its key', { missing: [{ type: 'header', key: 'next-url' }] }, false],
    ['onMatchHeaders', 'has such a header and a cookie', { has: [rsc, ...has] }, true],
    ['onMatchHeaders', 'has a cookie with that name', { has: [{ ...rsc, type: 'cookie' }] }, true],
    ['headers', 'has another host', { has: [{ type: 'host', value: 'rsc' }] }, true],
    ['redirects', 'has a header of its key', { has: [rsc] }, true],
    ['rewrites', 'has a header of its key', { has: [rsc] }, true],
  ])('if %s decide by whether it %s, %j: %j', async (list, _, conditions, expected) => {
    const isConditional = await conditional(routes({ [list]: [{ regex: '^/a$', ...conditions }] }))
    expect(isConditional('/a')).toBe(expected)
  })

  it('by which the language of a client is looked for', async () => {
    const { isConditional } = await readBuild(aBuild({ i18n: { locales: ['en', 'de'], defaultLocale: 'en' } }), {
      allowsMiddleware: false,
    })
    expect(['/', '/index', '/a', '/de'].map(isConditional)).toEqual([true, true, false, false])
  })

  it('that is rewritten, if there are such rules, which the new path may match', async () => {
    const rewrites = { beforeFiles: [{ regex: '^/a$' }], afterFiles: [], fallback: [] }
    expect((await conditional(routes({ rewrites })))('/a')).toBe(false)
    expect((await conditional(routes({ rewrites, headers: [{ regex: '^/b$', has }] })))('/a')).toBe(true)
  })
})

describe('middleware may see a path', () => {
  const isProxied = async (regexp: string): Promise<(path: string) => boolean> => {
    const functions = { '/_middleware': { matchers: [{ regexp }] } }
    return (
      await readBuild(aBuild({}, { 'server/functions-config-manifest.json': { functions } }), {
        allowsMiddleware: true,
      })
    ).isProxied
  }

  it('in whatever case', async () => {
    const seen = await isProxied('^/(?!api|_next/static).*$')
    // The pattern leaves out /api only where it is written so.
    expect(['/', '/API', '/api', '/_next/static/a.js'].map(seen)).toEqual([true, true, false, false])
  })

  it('that is data of a page which it may see', async () => {
    const seen = await isProxied('^/(?!_next|index).*$')
    const paths = ['/_next/data/1/index.json', '/_next/data/1/a.json', '/_next/static/a.js']
    expect(paths.map(seen)).toEqual([true, true, false])
  })
})

it('returns the lifetime of a page at build time', async () => {
  const routes = {
    '/': { initialRevalidateSeconds: false },
    '/index': { initialRevalidateSeconds: 1 },
    '/a': { initialRevalidateSeconds: 2, initialExpireSeconds: 3 },
    '/x/$/a': { initialRevalidateSeconds: 4 },
  }
  const { lifetimeOf } = await readBuild(aBuild({}, { 'prerender-manifest.json': { routes } }), {
    allowsMiddleware: false,
  })
  const route = '/route-cache/APP_PAGE/0123/$'
  const found = ['/index', `${route}/index`, `${route}/index/index`, '/a', `${route}/a`, '/x/$/a', '/b'].map(
    (key) => lifetimeOf(key)?.revalidate,
  )
  expect(found).toEqual([false, false, 1, 2, 2, 4, undefined])
  expect(lifetimeOf('/a')?.expire).toBe(3)
})

it('a base path, which Next takes for the prefix of assets too, is no reason to keep nothing', async () => {
  const { fileOf } = await readBuild(aBuild({ basePath: '/docs', assetPrefix: '/docs', trailingSlash: true }), {
    allowsMiddleware: false,
  })
  expect(fileOf('/docs/a.txt')).toBe('/a.txt')
})

it('a page without data is the file that the manifest says', async () => {
  const { distDir, staticPage } = await readBuild(aBuild(), { allowsMiddleware: false })
  expect(['/a', '/b', '/c', 'constructor'].map(staticPage)).toEqual([
    join(distDir, 'server/pages/a.html'),
    undefined,
    undefined,
    undefined,
  ])
})

describe('middleware sees each request for a path', () => {
  const matchers = [
    { regexp: '^/all(?:/.*)?$' },
    { regexp: '^/(?!api).*$', has: [{ type: 'header', key: 'a' }] },
    { regexp: '^/some$', missing: [{ type: 'header', key: 'a' }] },
    { regexp: '^/case/(?!API).*$' },
  ]
  const files = { 'server/functions-config-manifest.json': { functions: { '/_middleware': { matchers } } } }
  const paths = ['/all', '/all/1', '/some', '/any', '/api', '/case/a', '/case/api']

  it('that a matcher matches without a condition, however case is read', async () => {
    const { isAlwaysProxied, isProxied } = await readBuild(aBuild({}, files), { allowsMiddleware: true })
    expect(paths.filter(isAlwaysProxied)).toEqual(['/all', '/all/1', '/case/a'])
    expect(paths.filter(isProxied)).toEqual(['/all', '/all/1', '/some', '/any', '/case/a', '/case/api'])
  })

  it.each<[string, object]>([
    ['a base path', { basePath: '/docs' }],
    ['locales', { i18n: { locales: ['en'], defaultLocale: 'en' } }],
    ['slashes at the end', { trailingSlash: true }],
    ['hosts that are trusted', { experimental: { trustHostHeader: true } }],
  ])('is not said of an app with %s', async (_, config) => {
    const { isAlwaysProxied } = await readBuild(aBuild(config, files), { allowsMiddleware: true })
    expect(paths.filter(isAlwaysProxied)).toEqual([])
  })
})
