import { describe, expect, it } from 'vitest'
import { appPaths } from '../../../src/next/build/path-reader.ts'

const i18n = { locales: ['en', 'de-CH'], defaultLocale: 'en' }

describe('the path of a file', () => {
  it.each<[string, string | undefined, object]>([
    ['/a.txt', '/a.txt', {}],
    ['/a/', '/a', {}],
    ['/', '/', {}],
    ['/docs/a.txt', '/a.txt', { basePath: '/docs' }],
    ['/docs/docs/a.txt', '/docs/a.txt', { basePath: '/docs' }],
    ['/docs/LICENSE/', '/LICENSE', { basePath: '/docs' }],
    ['/docs', '/', { basePath: '/docs' }],
    ['/docs/', '/', { basePath: '/docs' }],
    ['/a.txt', undefined, { basePath: '/docs' }],
    ['/docsa.txt', undefined, { basePath: '/docs' }],
    ['/docs-of-another-app/a.txt', undefined, { basePath: '/docs' }],
    ['/en/a.txt', '/a.txt', { i18n }],
    ['/EN/a.txt', '/a.txt', { i18n }],
    ['/de-CH/a.txt', '/de-CH/a.txt', { i18n }],
    ['/docs/en/a.txt', '/a.txt', { basePath: '/docs', i18n }],
  ])('of %s is %s in an app with %o', (path, file, config) => {
    expect(appPaths(config).fileOf(path)).toBe(file)
  })
})

describe('the name of a page', () => {
  it.each<[string, string | undefined, object]>([
    ['/a', '/a', {}],
    ['/a/', '/a', {}],
    ['/docs', '/', { basePath: '/docs' }],
    ['/a', undefined, { basePath: '/docs' }],
    ['/a', '/en/a', { i18n }],
    ['/', '/en', { i18n }],
    ['/de-ch/a', '/de-CH/a', { i18n }],
    ['/de-CH', '/de-CH', { i18n }],
    ['/docs/de-CH/a/', '/de-CH/a', { basePath: '/docs', i18n }],
  ])('of %s is %s in an app with %o', (path, page, config) => {
    expect(appPaths(config).pageOf(path)).toBe(page)
  })
})

describe('rules and matchers are held against', () => {
  it.each<[string, string[], object]>([
    ['/a', ['/a'], {}],
    ['/docs/a/', ['/docs/a/'], { basePath: '/docs' }],
    ['/a', ['/a', '/en/a'], { i18n }],
    ['/', ['/', '/en'], { i18n }],
    ['/docs', ['/docs', '/docs/en'], { basePath: '/docs', i18n }],
    ['/a', ['/a', '/en/a'], { basePath: '/docs', i18n }],
    ['/_next/data/1/a.json', ['/_next/data/1/a.json', '/a', '/a/'], {}],
    ['/_next/data/1/index.json', ['/_next/data/1/index.json', '/index', '/'], {}],
    ['/docs/_next/data/1/index.json', ['/docs', '/docs/'], { basePath: '/docs' }],
    ['/docs/_next/data/1/de-CH/a.json', ['/docs/de-CH/a', '/docs/de-CH/a/'], { basePath: '/docs', i18n }],
    ['/_next/data/1/a.json', ['/en/a', '/en/a/'], { i18n }],
  ])('for %s: %o in an app with %o', (path, spellings, config) => {
    expect(appPaths(config).routedAs(path)).toEqual(expect.arrayContaining([path, ...spellings]))
  })

  it('the path alone, where nothing else is to be thought of', () => {
    expect(appPaths({ basePath: '/docs' }).routedAs('/docs/a')).toEqual(['/docs/a'])
  })
})

it('the language of a client counts at the root of an app with locales', () => {
  const { isLocalized } = appPaths({ basePath: '/docs', i18n })
  const paths = ['/docs', '/docs/', '/docs/index', '/docs/index/', '/docs/index/a', '/', '/docs/a', '/docs/indexes']
  expect(paths.map(isLocalized)).toEqual([true, true, true, true, true, true, false, false])
  expect(appPaths({}).isLocalized('/')).toBe(false)
})
