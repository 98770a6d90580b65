import { expect } from 'vitest'
import type { Conversation, FeatureCases, Reply } from './conversation.ts'

/** Calls an action by its ID, as Next's client does. */
async function call(servers: Conversation, form: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { text } = await servers.get('/actions')
  const id = new RegExp(`<form id="${form}".*?\\$ACTION_ID_(\\w+)`, 's').exec(text)?.[1]
  expect(id).toBeDefined()
  return servers.post('/actions', '[]', {
    accept: 'text/x-component',
    'content-type': 'text/plain;charset=UTF-8',
    'next-action': id!,
    origin: 'http://app.example',
    ...headers,
  })
}

/** Server actions. */
export const actions: FeatureCases = {
  'runs an action of a form without JavaScript, and renders its state': async (servers) => {
    const page = await servers.submit('/actions', 'greet', { name: 'Ada' })
    expect(page.status).toBe(200)
    expect(page.text).toContain('<p>Hello Ada</p>')
  },
  'sets cookies in an action': async (servers) => {
    const page = await servers.submit('/actions', 'remember', { name: 'Ada' })
    expect(page.header('set-cookie')).toBe('name=Ada; Path=/')
  },
  'redirects from an action': async (servers) => {
    const page = await servers.submit('/actions', 'leave')
    expect([page.status, page.header('location')]).toEqual([303, '/params/one'])
  },
  'runs an action by its ID, and sends its result': async (servers) => {
    const result = await call(servers, 'refresh')
    expect([result.status, result.header('content-type')]).toEqual([200, 'text/x-component'])
    expect(result.text).toContain('"refreshed"')
  },
  'hides the reason if an action fails': async (servers) => {
    const result = await call(servers, 'fail')
    expect(result.status).toBe(500)
    expect(result.text).not.toContain('secret reason')
  },
  'rejects an unknown action': async (servers) => {
    const reply = await servers.post('/actions', '[]', {
      'content-type': 'text/plain;charset=UTF-8',
      'next-action': `00${'0'.repeat(40)}`,
      origin: 'http://app.example',
    })
    // 404 before Next 16.4.
    expect([404, 409]).toContain(reply.status)
    expect(reply.header('x-nextjs-action-not-found')).toBe('1')
  },
  'rejects an action from another origin': async (servers) => {
    const result = await call(servers, 'remember', { origin: 'https://other.example' })
    expect(result.status).toBe(500)
    expect(result.header('set-cookie')).toBeUndefined()
  },
  'rejects a body above `bodySizeLimit`': async (servers) => {
    const page = await servers.submit('/actions', 'remember', { name: 'x'.repeat(2000) })
    expect(page.status).toBeGreaterThanOrEqual(400)
    expect(page.header('set-cookie')).toBeUndefined()
  },
}

/** What is rendered again, and when. */
export const revalidation: FeatureCases = {
  'serves a static page without rendering it': async (servers) => {
    const first = await servers.get('/counted/path')
    expect(await servers.get('/counted/path')).toMatchObject({ status: 200, heading: first.heading })
    expect(first.header('cache-control')).toBe('s-maxage=31536000')
  },
  'renders a page again after `revalidatePath()`': async (servers) => {
    const before = await servers.get('/counted/path')
    await servers.post('/revalidate?path=/counted/path')
    const after = await servers.get('/counted/path')
    expect(after.heading).not.toBe(before.heading)
    expect((await servers.get('/counted/path')).heading).toBe(after.heading)
  },
  'renders all pages below a layout again after `revalidatePath()`': async (servers) => {
    const before = await servers.get('/counted/path')
    await servers.post('/revalidate?path=/counted&type=layout')
    expect((await servers.get('/counted/path')).heading).not.toBe(before.heading)
  },
  'renders a page again after an action has revalidated it': async (servers) => {
    const before = await servers.get('/counted/path')
    await servers.submit('/actions', 'refresh')
    expect((await servers.get('/counted/path')).heading).not.toBe(before.heading)
  },
  'keeps cached data until `revalidateTag()`': async (servers) => {
    const before = await servers.get('/counted/tag')
    expect((await servers.get('/counted/tag')).heading).toBe(before.heading)
    await servers.post('/revalidate?tag=other')
    expect((await servers.get('/counted/tag')).heading).toBe(before.heading)
    await servers.post('/revalidate?tag=tagged')
    expect((await servers.get('/counted/tag')).heading).not.toBe(before.heading)
  },
  'renders a page again after its lifetime': async (servers) => {
    const before = (await servers.get('/counted/never')).status
    expect(before).toBe(200)
    await servers.until('/counted/time', 'time 1')
    await servers.until('/counted/time', 'time 2')
  },
  'renders a dynamic page for each request': async (servers) => {
    const before = await servers.get('/counted/never')
    const after = await servers.get('/counted/never')
    expect(after.heading).not.toBe(before.heading)
    expect(after.header('cache-control')).toBe('private, no-cache, no-store, max-age=0, must-revalidate')
  },
  'renders a static page for each request in draft mode': async (servers) => {
    expect((await servers.get('/drafted')).heading).toBe('Draft false')
    const enabled = await servers.post('/draft')
    const cookie = /__prerender_bypass=\w+/.exec(enabled.header('set-cookie')!)![0]
    const draft = await servers.get('/drafted', { cookie })
    expect(draft.heading).toBe('Draft true')
    expect(draft.header('cache-control')).toContain('no-store')
    expect((await servers.get('/drafted')).heading).toBe('Draft false')
    const disabled = await servers.send({ method: 'DELETE', target: '/draft', headers: [['cookie', cookie]] })
    expect(disabled.header('set-cookie')).toContain('__prerender_bypass=;')
  },
  'renders a page of the Pages Router again after `response.revalidate()`': async (servers) => {
    // The path is rendered on request, so that this process has counted it.
    const before = await servers.get('/old/posts/revalidated')
    expect((await servers.get('/old/posts/revalidated')).heading).toBe(before.heading)
    expect((await servers.get('/api/revalidate?path=/old/posts/revalidated')).text).toBe('{"revalidated":true}')
    expect((await servers.get('/old/posts/revalidated')).heading).not.toBe(before.heading)
  },
}
