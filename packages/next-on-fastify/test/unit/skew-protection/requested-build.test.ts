import { describe, expect, it } from 'vitest'
import { requestedBuildOf } from '../../../src/skew-protection/requested-build.ts'

const config = { distDir: '.next', basePath: '/shop', assetPrefix: '/assets', images: { path: '/pictures' } }
const requestedBuild = requestedBuildOf(config)
const byUrl = (url: string): string | undefined => requestedBuild({ url, headers: {} })?.id

describe('the build that a request is for', () => {
  it.each([
    ['a file', '/shop/_next/static/chunks/1.js?dpl=a-B_1'],
    ['a file below the prefix of assets', '/assets/_next/static/chunks/1.css?dpl=a-B_1&x=1'],
    ['a transformed image', '/pictures?url=%2Fa.png&w=64&q=75&dpl=a-B_1'],
    ['an image that is not transformed', '/shop/a.PNG?dpl=a-B_1'],
    ['a path with ampersands', '/shop/_next/a&dpl=b?dpl=a-B_1'],
  ])('is named by the parameter dpl of %s', (_, url) => {
    expect(requestedBuild({ url, headers: {} })).toEqual({ id: 'a-B_1' })
  })

  it('is named by the header of a navigation, a prefetch or a server action', () => {
    const headers = { rsc: '1', 'x-deployment-id': 'a' }
    expect(requestedBuild({ url: '/page?_rsc=1', headers })).toEqual({ id: 'a', header: 'x-deployment-id' })
  })

  it('is that of the URL if a header names another one', () => {
    expect(requestedBuild({ url: '/shop/_next/1.js?dpl=a', headers: { 'x-deployment-id': 'b' } })).toEqual({ id: 'a' })
  })

  it.each([
    ...[
      '',
      '?',
      'dpl=a',
      '&dpl=a',
      '?xdpl=a',
      '?dpl',
      '?dpl=',
      '?dpl=a%20b',
      '?dpl=../a',
      '?x=?dpl=a',
      '?url=%3Fdpl%3Da',
    ],
  ])('is unknown for %j after a file', (query) => {
    expect(byUrl(`/shop/_next/1.js${query}`)).toBeUndefined()
  })

  it.each(['/', '/shop', '/shop/page', '/pictures/page', '/page/_next/1.js', '/a.png/page', '/shop/api/data.json'])(
    'is not named by the parameter dpl of the page %s',
    (path) => {
      expect(byUrl(`${path}?dpl=a`)).toBeUndefined()
      expect(requestedBuild({ url: `${path}?dpl=a`, headers: { 'x-deployment-id': 'b' } })?.id).toBe('b')
    },
  )

  it('is found in apps without prefixes, and with files on another host', () => {
    const url = '/_next/static/1.js?dpl=a'
    expect(requestedBuildOf({ distDir: '.next' })({ url, headers: {} })).toEqual({ id: 'a' })
    const elsewhere = requestedBuildOf({ distDir: '.next', assetPrefix: 'https://cdn.example/app/' })
    for (const path of [url, `/app${url}`]) expect(elsewhere({ url: path, headers: {} })).toEqual({ id: 'a' })
  })

  it('takes the same time for long URLs of any content', () => {
    for (const part of ['?', '&', '&dpl=', 'dpl=', '?dpl=!&'])
      expect(byUrl(`/shop/_next/?${part.repeat(5000)}`)).toBeUndefined()
  })
})
