import { expect } from 'vitest'
import type { FeatureCases } from './conversation.ts'

/** Route handlers of the App Router. */
export const routeHandlers: FeatureCases = {
  'calls the handler of each method with its body': async (servers) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { text } = await servers.send({ method, target: '/handlers/all?a=b', body: 'text' })
      expect(JSON.parse(text)).toEqual({ method, query: '?a=b', body: 'text' })
    }
  },
  'responds to OPTIONS, HEAD and unknown methods': async (servers) => {
    const options = await servers.send({ method: 'OPTIONS', target: '/handlers/stream' })
    expect([options.status, options.header('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect(await servers.send({ method: 'HEAD', target: '/handlers/all' })).toMatchObject({ status: 200, text: '' })
    expect((await servers.post('/handlers/stream')).status).toBe(405)
  },
  'reads form data with files': async (servers) => {
    const part = (head: string, value: string): string =>
      `--limit\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`
    const body = `${part('name="name"', 'Ada')}${part('name="file"; filename="a.txt"\r\ncontent-type: text/plain', 'content')}--limit--\r\n`
    const { text } = await servers.post('/handlers/form', body, {
      'content-type': 'multipart/form-data; boundary=limit',
    })
    expect(JSON.parse(text)).toEqual({ name: 'Ada', file: ['a.txt', 'text/plain', 'content'] })
  },
  'streams events': async (servers) => {
    const stream = await servers.get('/handlers/stream')
    expect(stream.header('content-type')).toBe('text/event-stream')
    expect(stream.text).toBe('data: one\n\ndata: two\n\ndata: three\n\n')
    await servers.getParts('/handlers/stream', 'data: one', 'data: two')
  },
  'reads and sets cookies': async (servers) => {
    const reply = await servers.get('/handlers/cookies', { cookie: 'a=1' })
    expect(JSON.parse(reply.text)).toEqual(['a', 'seen', 'theme'])
    expect(reply.header('set-cookie')).toBe('seen=yes; Path=/; HttpOnly, theme=dark; Path=/')
  },
  'passes parameters of the path': async (servers) => {
    expect((await servers.get('/handlers/item/a%20b')).text).toBe('{"id":"a b"}')
  },
  'serves a static handler as it was at build': async (servers) => {
    const reply = await servers.get('/handlers/static?a=b')
    expect([reply.text, reply.header('x-handler')]).toEqual(['{"fixed":true}', 'static'])
    expect(reply.header('cache-control')).toBe('s-maxage=31536000')
  },
}

/** Middleware: `proxy.js`, or `middleware.js` before Next 16. */
export const middleware: FeatureCases = {
  'adds headers and cookies to a page': async (servers) => {
    const page = await servers.get('/middleware/cookies')
    expect(page).toMatchObject({ status: 200, heading: 'Behind middleware' })
    expect([page.header('x-middleware'), page.header('set-cookie')]).toEqual(['ran', 'middleware=yes; Path=/'])
  },
  'rewrites to another page': async (servers) => {
    expect(await servers.get('/middleware/rewrite')).toMatchObject({ status: 200, heading: 'Param rewritten' })
  },
  redirects: async (servers) => {
    const reply = await servers.get('/middleware/redirect')
    expect([reply.status, reply.location]).toEqual([307, '/params/one?from=middleware'])
  },
  'responds itself': async (servers) => {
    const reply = await servers.get('/middleware/response?a=b')
    expect([reply.status, reply.text]).toEqual([418, '{"by":"middleware","query":"?a=b"}'])
  },
  'replaces headers of the request, also those of the client': async (servers) => {
    const headers = { cookie: 'name=Ada', 'x-from-middleware': 'client' }
    expect((await servers.get('/cookie', headers)).heading).toBe('Cookie Ada from middleware')
  },
  'does not run for paths beside its matcher': async (servers) => {
    expect((await servers.get('/middleware-none')).header('x-middleware')).toBeUndefined()
  },
  'cannot be skipped by a header of the client': async (servers) => {
    const skip = 'middleware:middleware:middleware:middleware:middleware'
    const reply = await servers.get('/middleware/response', { 'x-middleware-subrequest': skip })
    expect(reply.status).toBe(418)
  },
  'responds 500 if it fails': async (servers) => {
    const reply = await servers.get('/middleware/throws')
    expect(reply.status).toBe(500)
    expect(reply.text).not.toContain('middleware failed')
  },
}

/** Languages by middleware, as Next documents it for the App Router. */
export const i18n: FeatureCases = {
  'redirects to the language that the client prefers': async (servers) => {
    const german = await servers.get('/i18n', { 'accept-language': 'de-DE,de;q=0.9' })
    expect([german.status, german.location]).toEqual([307, '/i18n/de'])
    expect((await servers.get('/i18n')).location).toBe('/i18n/en')
  },
  'renders a page in each language, with links to the others': async (servers) => {
    const { heading, text } = await servers.get('/i18n/de')
    expect(heading).toBe('Willkommen')
    expect(text).toContain('<section lang="de">')
    expect(text).toContain('<link rel="alternate" hrefLang="en" href="https://app.example/i18n/en"/>')
  },
}

/** Rules of `next.config`. */
export const configuration: FeatureCases = {
  'redirects by `redirects()`, with parameters and conditions': async (servers) => {
    const moved = await servers.get('/config/old/one?a=b')
    expect([moved.status, moved.header('location')]).toEqual([308, '/params/one?a=b'])
    const bot = await servers.get('/config/for-bots?bot=crawler')
    expect([bot.status, bot.header('location')]).toEqual([307, '/params/crawler?bot=crawler'])
    expect((await servers.get('/config/for-bots')).status).toBe(404)
  },
  'rewrites by `rewrites()`, before and after files, and as a fallback': async (servers) => {
    expect((await servers.get('/config/before')).heading).toBe('Param before')
    expect((await servers.get('/config/after/a/b')).heading).toBe('Docs a &gt; b')
    expect((await servers.get('/config/fallback')).heading).toBe('Param fallback')
  },
  'sets headers by `headers()`': async (servers) => {
    expect((await servers.get('/params/one')).header('x-config')).toBe('for one')
  },
}
