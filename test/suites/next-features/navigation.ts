import { expect } from 'vitest'
import { isLowest } from '../next.ts'
import type { FeatureCases } from './conversation.ts'

/** The App Router: routes, layouts, and what its client requests. */
export const navigation: FeatureCases = {
  'renders a page of a route group in its layouts': async (servers) => {
    const page = await servers.get('/grouped')
    expect(page).toMatchObject({ status: 200, heading: 'Grouped <a href="/params/one">one</a>' })
    expect(page.text).toMatch(/root layout.*group layout/s)
    expect(page.header('x-nextjs-prerender')).toContain('1')
  },
  'sends the data of a page to its client': async (servers) => {
    const data = await servers.navigate('/grouped')
    expect([data.status, data.header('content-type')]).toEqual([200, 'text/x-component'])
    expect(data.header('vary')).toMatch(/^rsc,/i)
    expect(data.text).toContain('group layout')
    expect(data.text).not.toContain('<html')
  },
  'sends a prefetch of a page': async (servers) => {
    const headers = { 'next-router-prefetch': '1' }
    const data = await servers.navigate('/grouped', headers)
    expect([data.status, data.header('content-type')]).toEqual([200, 'text/x-component'])
    expect(data.text).toContain('Grouped ')
    const slow = await servers.navigate('/slow', headers)
    expect(slow.text).toContain('Loading')
    expect(slow.text).not.toContain('Slow content')
  },
  'sends a prefetch of one segment': async (servers) => {
    const headers = { 'next-router-prefetch': '1', 'next-router-segment-prefetch': '/_tree' }
    const data = await servers.navigate('/grouped', headers)
    expect([data.status, data.header('content-type')]).toEqual([200, 'text/x-component'])
    // Next 15 sends the whole page.
    expect(data.text.includes('Grouped ')).toBe(isLowest)
  },
  'decodes parameters of a dynamic route': async (servers) => {
    expect((await servers.get('/params/a%20b%2Fc')).heading).toBe('Param a b/c')
    expect((await servers.get('/params/%C3%A4')).heading).toBe('Param ä')
  },
  'matches an optional catch-all route at any depth': async (servers) => {
    expect((await servers.get('/docs')).heading).toBe('Docs home')
    expect((await servers.get('/docs/a/b/c')).heading).toBe('Docs a &gt; b &gt; c')
  },
  'passes search parameters, also repeated ones': async (servers) => {
    const page = await servers.get('/search?a=1&a=2&b=%26')
    expect(page.heading).toBe('Searched {&quot;a&quot;:[&quot;1&quot;,&quot;2&quot;],&quot;b&quot;:&quot;&amp;&quot;}')
    expect(page.header('cache-control')).toContain('no-store')
  },
  'renders a page at build, and others on request': async (servers) => {
    expect((await servers.get('/params/one')).header('x-nextjs-cache')).toBe('HIT')
    expect((await servers.get('/params/two')).header('x-nextjs-cache')).toBe('MISS')
    expect((await servers.get('/params/two')).header('x-nextjs-cache')).toBe('HIT')
  },
  'serves no parameters beyond `generateStaticParams` with `dynamicParams = false`': async (servers) => {
    expect((await servers.get('/fixed/known')).heading).toBe('Fixed known')
    expect((await servers.get('/fixed/unknown')).status).toBe(404)
  },
  'redirects paths with a trailing slash or repeated slashes': async (servers) => {
    const slash = await servers.get('/grouped/?a=b')
    expect([slash.status, slash.header('location')]).toEqual([308, '/grouped?a=b'])
    const repeated = await servers.get('/docs//a')
    expect([repeated.status, repeated.header('location')]).toEqual([308, '/docs/a'])
  },
  'redirects from a page, temporarily and permanently': async (servers) => {
    for (const [path, status] of [
      ['/leaves/redirect', 307],
      ['/leaves/permanent', 308],
      ['/leaves/static', 307],
    ] as const) {
      const page = await servers.get(path)
      expect([path, page.status, page.header('location')]).toEqual([path, status, '/params/one'])
    }
  },
  'redirects by a meta tag once a response has begun': async (servers) => {
    const page = await servers.get('/leaves/late')
    expect(page.status).toBe(200)
    expect(page.text).toMatch(/<meta id="__next-page-redirect" http-equiv="refresh" content="1;url=\/params\/one"/)
  },
  'streams a page behind its `loading` state': async (servers) => {
    const page = await servers.get('/slow')
    expect(page.header('transfer-encoding')).toBe('chunked')
    expect(page.text).toMatch(/<p>Loading<\/p>.*<h1>Slow content<\/h1>/s)
    await servers.getParts('/slow', '<p>Loading</p>', 'Slow content')
  },
  'reads cookies and headers in a page': async (servers) => {
    expect((await servers.get('/cookie', { cookie: 'name=Ada' })).heading).toBe('Cookie Ada from middleware')
  },
  'responds to HEAD without a body': async (servers) => {
    const head = await servers.send({ method: 'HEAD', target: '/grouped' })
    expect(head).toMatchObject({ status: 200, text: '' })
  },
  'responds to conditional requests': async (servers) => {
    const etag = (await servers.get('/grouped')).header('etag')!
    expect(etag).toBeDefined()
    expect(await servers.get('/grouped', { 'if-none-match': etag })).toMatchObject({ status: 304, text: '' })
  },
}

/** Pages that end otherwise than by rendering. */
export const errors: FeatureCases = {
  'renders `not-found` of the root for unknown paths': async (servers) => {
    const page = await servers.get('/unknown/path')
    expect(page).toMatchObject({ status: 404, heading: 'Nothing here' })
    expect(page.text).toContain('<meta name="robots" content="noindex"/>')
  },
  'renders the nearest `not-found` for `notFound()`': async (servers) => {
    const page = await servers.get('/missing')
    expect(page.status).toBe(404)
    expect(page.text).toContain('Missing here')
    expect(page.text).not.toContain('<h1>Nothing here')
  },
  'renders `forbidden` for `forbidden()`': async (servers) => {
    const page = await servers.get('/secret')
    expect(page.status).toBe(403)
    expect(page.text).toContain('Forbidden here')
  },
  'responds 500 without the reason if a page fails': async (servers) => {
    const page = await servers.get('/errors/page')
    expect(page.status).toBe(500)
    expect(page.text).not.toContain('page failed')
  },
  'leaves a failed part to the boundary in the browser': async (servers) => {
    const page = await servers.get('/errors/boundary')
    expect(page).toMatchObject({ status: 200, heading: 'Around the failure' })
    expect(page.text).toContain('data-dgst=')
    expect(page.text).not.toContain('part failed')
  },
  'responds 500 if a route handler fails': async (servers) => {
    expect(await servers.get('/errors/handler')).toMatchObject({ status: 500, text: '' })
  },
  'responds 500 if an API route or `getServerSideProps` fails': async (servers) => {
    expect(await servers.get('/api/fails')).toMatchObject({ status: 500, text: 'Internal Server Error' })
    expect((await servers.get('/old/server?fail=1')).status).toBe(500)
  },
  'responds 400 to a URL that cannot be decoded': async (servers) => {
    expect((await servers.get('/params/%E0%A4%A')).status).toBe(400)
  },
}

/** Slots and intercepted routes. */
export const parallelRoutes: FeatureCases = {
  'renders parallel slots in their layout': async (servers) => {
    const { text } = await servers.get('/board')
    expect(text).toMatch(/board layout.*Board page.*Team slot.*No modal/s)
  },
  'renders `default` of slots that do not match': async (servers) => {
    const { text } = await servers.get('/board/photo/7')
    expect(text).toMatch(/Photo 7 alone.*Team default.*No modal/s)
  },
  'intercepts a navigation from the page beside it': async (servers) => {
    const data = await servers.navigate('/board/photo/7', { 'next-url': '/board' })
    expect(data.status).toBe(200)
    expect(data.text).toContain('Photo 7 in a modal')
    expect(data.header('vary')).toMatch(/next-url/i)
  },
  'does not intercept a navigation from elsewhere': async (servers) => {
    const data = await servers.navigate('/board/photo/7', { 'next-url': '/grouped' })
    expect(data.text).toContain('Photo 7 alone')
    expect(data.text).not.toContain('in a modal')
  },
}
