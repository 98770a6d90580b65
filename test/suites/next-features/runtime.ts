import { expect } from 'vitest'
import type { Conversation, FeatureCases } from './conversation.ts'

/** Waits until both servers have logged an event. */
const logged = (servers: Conversation, event: string): Promise<void> => servers.until('/log', JSON.stringify(event))

/** Code that runs beside requests. */
export const instrumentation: FeatureCases = {
  'calls `register()` once, before the first request': async (servers) => {
    const { text } = await servers.get('/log')
    expect((JSON.parse(text) as string[]).filter((event) => event === 'registered')).toEqual(['registered'])
    expect((await servers.get('/log?first')).text).toBe('"registered"')
  },
  'calls `onRequestError()` with the request and the route': async (servers) => {
    await servers.get('/errors/page?a=b')
    await logged(servers, 'page failed: GET /errors/page?a=b App Router /errors/page render')
    await servers.get('/errors/handler')
    await logged(servers, 'handler failed: GET /errors/handler App Router /errors/handler route')
    await servers.get('/api/fails')
    await logged(servers, 'API failed: GET /api/fails Pages Router /api/fails route')
  },
  'runs `after()` of a page once it is sent': async (servers) => {
    expect((await servers.get('/after')).heading).toBe('After')
    await logged(servers, 'after page')
  },
  'runs asynchronous `after()` of a route handler': async (servers) => {
    expect((await servers.post('/after/handler')).text).toBe('sent')
    await logged(servers, 'after handler')
  },
}

/** The Edge runtime. */
export const edge: FeatureCases = {
  'renders a page': async (servers) => {
    expect((await servers.get('/edge')).heading).toBe('Rendered by edge')
  },
  'calls a route handler with the body': async (servers) => {
    const reply = await servers.post('/edge/handler', 'text')
    expect([reply.status, JSON.parse(reply.text)]).toEqual([201, { runtime: 'edge', body: 'text' }])
  },
  'calls an API route': async (servers) => {
    const reply = await servers.get('/api/edge')
    expect([reply.text, reply.header('x-runtime')]).toEqual(['Edge GET', 'edge'])
  },
}

/** The Pages Router. */
export const pagesRouter: FeatureCases = {
  'renders a page of `getStaticProps` in the document of the app': async (servers) => {
    const page = await servers.get('/old/posts/1')
    expect(page.heading).toMatch(/^Old post 1 \d$/)
    expect(page.text).toContain('<html lang="en" data-document="custom"')
  },
  'renders further paths on request with `fallback: "blocking"`': async (servers) => {
    expect((await servers.get('/old/posts/2')).heading).toBe('Old post 2 1')
    const again = await servers.get('/old/posts/2')
    expect([again.heading, again.header('x-nextjs-cache')]).toEqual(['Old post 2 1', 'HIT'])
  },
  'responds to `notFound` and `redirect` of props': async (servers) => {
    expect((await servers.get('/old/posts/none')).status).toBe(404)
    const moved = await servers.get('/old/posts/moved')
    expect([moved.status, moved.header('location')]).toEqual([307, '/old/posts/1'])
  },
  'sends the data of a page to its client': async (servers) => {
    const { text } = await servers.get('/old/posts/1')
    const id = /"buildId":"([^"]+)"/.exec(text)?.[1]
    const data = await servers.get(`/_next/data/${id}/old/posts/1.json`)
    expect(data.header('content-type')).toContain('application/json')
    expect(JSON.parse(data.text)).toMatchObject({ pageProps: { id: '1' } })
    expect((await servers.get('/_next/data/other/old/posts/1.json')).status).toBe(404)
  },
  'renders `getServerSideProps` with query and headers': async (servers) => {
    const page = await servers.get('/old/server?a=1')
    expect(page.heading).toBe('Old server GET {&quot;a&quot;:&quot;1&quot;}')
    expect([page.header('x-props'), page.header('cache-control')]).toEqual(['set', 'private, max-age=5'])
  },
  'parses query, cookies and body for API routes': async (servers) => {
    const headers = { 'content-type': 'application/json', cookie: 'a=1' }
    const reply = await servers.post('/api/echo/x/y?q=1', '{"b":[1]}', headers)
    expect([reply.status, reply.header('x-api')]).toEqual([202, 'echo'])
    expect(JSON.parse(reply.text)).toEqual({
      method: 'POST',
      query: { path: ['x', 'y'], q: '1' },
      body: { b: [1] },
      cookies: { a: '1' },
    })
    expect((await servers.post('/api/echo/x', '{"b"', headers)).status).toBe(400)
  },
}
