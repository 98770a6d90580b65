import { describe, expect, it } from 'vitest'
import { requestedBuild } from '../../../src/skew-protection/requested-build.ts'

const byUrl = (url: string): string | undefined => requestedBuild({ url, headers: {} })?.id

describe('the build that a request is for', () => {
  it.each([
    ['a file', '/_next/static/chunks/1.js?dpl=a-B_1'],
    ['an image', '/_next/image?url=%2Fa.png&w=64&q=75&dpl=a-B_1'],
    ['a file of an app with a base path', '/shop/_next/static/chunks/1.css?dpl=a-B_1&x=1'],
    ['a path with ampersands', '/a&dpl=b?dpl=a-B_1'],
  ])('is named by the parameter dpl of %s', (_, url) => {
    expect(requestedBuild({ url, headers: {} })).toEqual({ id: 'a-B_1' })
  })

  it('is named by the header of a navigation, a prefetch or a server action', () => {
    const headers = { rsc: '1', 'x-deployment-id': 'a' }
    expect(requestedBuild({ url: '/page?_rsc=1', headers })).toEqual({ id: 'a', header: 'x-deployment-id' })
  })

  it('is that of the URL if a header names another one', () => {
    expect(requestedBuild({ url: '/1.js?dpl=a', headers: { 'x-deployment-id': 'b' } })).toEqual({ id: 'a' })
  })

  it.each([
    ...['/', '/?', '/dpl=a', '/a&dpl=a', '/?xdpl=a', '/?dpl', '/?dpl=', '/?dpl=a%20b', '/?dpl=../a', '/?x=?dpl=a'],
    ...['/?url=%2F1.js%3Fdpl%3Da'],
  ])('is unknown for %s', (url) => {
    expect(byUrl(url)).toBeUndefined()
  })

  it('takes the same time for long URLs of any content', () => {
    for (const part of ['?', '&', '&dpl=', 'dpl=', '?dpl=!&']) expect(byUrl(`/?${part.repeat(5000)}`)).toBeUndefined()
  })
})
