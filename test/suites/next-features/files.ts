import { expect } from 'vitest'
import type { FeatureCases } from './conversation.ts'

/** Metadata of pages, and files that describe the app. */
export const metadata: FeatureCases = {
  'renders static metadata and the viewport': async (servers) => {
    const { text } = await servers.get('/grouped')
    expect(text).toContain('<title>Features</title>')
    expect(text).toContain('<meta name="description" content="All features"/>')
    expect(text).toContain('<meta name="theme-color" content="#123456"/>')
  },
  'renders `generateMetadata` by the template of the layout': async (servers) => {
    const { text } = await servers.get('/params/one')
    expect(text).toContain('<title>one | Features</title>')
    expect(text).toContain('<link rel="canonical" href="https://app.example/params/one"/>')
    expect(text).toContain('<meta property="og:title" content="Open one"/>')
  },
  'serves `robots.txt`, `sitemap.xml` and the manifest': async (servers) => {
    const robots = await servers.get('/robots.txt')
    expect(robots).toMatchObject({ status: 200 })
    expect(robots.text).toBe('User-Agent: *\nDisallow: /private\n\nSitemap: https://app.example/sitemap.xml\n')
    const sitemap = await servers.get('/sitemap.xml')
    expect(sitemap.header('content-type')).toBe('application/xml')
    expect(sitemap.text).toContain('<loc>https://app.example/params/one</loc>')
    const manifest = await servers.get('/manifest.webmanifest')
    expect(JSON.parse(manifest.text)).toEqual({ name: 'Features', start_url: '/', display: 'standalone' })
  },
  'links an icon by its hash, and serves it': async (servers) => {
    const { text } = await servers.get('/grouped')
    const path = /<link rel="icon" href="(\/icon\.svg\?[^"]+)"/.exec(text)?.[1]
    const icon = await servers.get(path!)
    expect([icon.status, icon.header('content-type')]).toEqual([200, 'image/svg+xml'])
  },
}

/** Files and transformed images. */
export const images: FeatureCases = {
  'renders `next/image` with its source set and preload': async (servers) => {
    const { text } = await servers.get('/picture')
    expect(text).toContain('/_next/image?url=%2Fimages%2Fdot.png&amp;w=16&amp;q=90 1x')
    expect(text).toMatch(/<link rel="preload" as="image"/)
  },
  'transforms an image to the format that the client accepts': async (servers) => {
    const url = '/_next/image?url=%2Fimages%2Fdot.png&w=32&q=90'
    const webp = await servers.get(url, { accept: 'image/webp' })
    expect([webp.status, webp.header('content-type'), webp.header('vary')]).toEqual([200, 'image/webp', 'Accept'])
    expect((await servers.get(url, { accept: 'image/webp' })).header('x-nextjs-cache')).toBe('HIT')
    expect((await servers.get(url)).header('content-type')).toBe('image/png')
    const etag = webp.header('etag')!
    expect((await servers.get(url, { accept: 'image/webp', 'if-none-match': etag })).status).toBe(304)
  },
  'rejects other sizes, qualities, paths and formats of images': async (servers) => {
    for (const query of [
      'url=%2Fimages%2Fdot.png&w=17&q=75',
      'url=%2Fimages%2Fdot.png&w=32&q=50',
      'url=%2Fnotes.txt&w=32&q=75',
      'url=http%3A%2F%2F127.0.0.1%2Fa.png&w=32&q=75',
      'url=%2Fimages%2Fdrawing.svg&w=32&q=75',
      'w=32&q=75',
    ]) {
      expect([query, (await servers.get(`/_next/image?${query}`)).status]).toEqual([query, 400])
    }
  },
  'serves files of `public`, in parts and conditionally': async (servers) => {
    const file = await servers.get('/notes.txt')
    expect([file.status, file.header('cache-control')]).toEqual([200, 'public, max-age=0'])
    const part = await servers.get('/notes.txt', { range: 'bytes=0-3' })
    expect([part.status, part.text, part.header('content-range')]).toEqual([206, 'User', 'bytes 0-3/1080'])
    expect((await servers.get('/notes.txt', { 'if-none-match': file.header('etag')! })).status).toBe(304)
    expect((await servers.send({ method: 'POST', target: '/notes.txt', body: 'a' })).status).toBe(405)
  },
  'serves assets of the build for a year': async (servers) => {
    const { text } = await servers.get('/grouped')
    const path = /src="(\/_next\/static\/[^"?]+\.js)/.exec(text)?.[1]
    const asset = await servers.get(path!)
    expect([asset.status, asset.header('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    expect((await servers.get('/_next/static/none.js')).status).toBe(404)
  },
  'compresses by gzip': async (servers) => {
    const page = await servers.get('/grouped', { 'accept-encoding': 'gzip' })
    expect(page.header('content-encoding')).toBe('gzip')
    expect(page.heading).toContain('Grouped')
  },
}
