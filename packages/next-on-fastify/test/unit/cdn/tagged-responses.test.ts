import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { tagFormat } from '../../../src/cdn/tag-header.ts'
import { TaggedResponses } from '../../../src/cdn/tagged-responses.ts'
import { observedHandler } from '../../../src/next/page-cache/observed-cache-handler.ts'
import type { CacheHandler, Found } from '../../../src/next/page-cache/cache-handler-types.ts'

const NOT_STORED = 'private, no-cache, no-store, max-age=0, must-revalidate'
const FRESH = 's-maxage=60, stale-while-revalidate=300'

const pageOf = (tags: string): Found => ({ value: { kind: 'APP_PAGE', headers: { 'x-next-cache-tags': tags } } })

/** A handler of Next that finds one entry. */
function handlerWith(found: Found | null, secret?: string): CacheHandler {
  const Inner = class {
    async get(): Promise<Found | null> {
      return found
    }
    async set(): Promise<void> {}
    async revalidateTag(): Promise<void> {}
  }
  const Handler = observedHandler(Inner)
  return new Handler({ _requestHeaders: secret === undefined ? {} : { 'x-prerender-revalidate': secret } })
}

type Render = (response: ServerResponse) => Promise<void> | void

/** The head of a response, whose URL may be one of before. */
async function headOf(
  responses: TaggedResponses,
  state: string | undefined,
  render: Render,
  url = '/',
): Promise<object> {
  const request = Object.assign(new IncomingMessage(new Socket()), { url, headers: { host: 'app.example' } })
  const response = new ServerResponse(request)
  await responses.around(async () => {
    await render(response)
    if (state !== undefined) response.setHeader('x-nextjs-cache', state)
    response.setHeader('Cache-Control', FRESH).setHeader('Surrogate-Control', 'max-age=9').end('page')
  })(request, response)
  const { 'x-nextjs-cache': _, ...head } = response.getHeaders()
  return head
}

function taggedResponses() {
  const warn = vi.fn<(fields: object, message: string) => void>()
  return { responses: new TaggedResponses(tagFormat('cache-tag'), { warn } as unknown as FastifyBaseLogger), warn }
}

const reading =
  (found: Found | null, kind = 'APP_PAGE', key = '/blog'): Render =>
  async () =>
    void (await handlerWith(found).get(key, { kind, tags: ['own'], softTags: ['_N_T_/soft'] }))

const stored = { 'cache-control': FRESH, 'surrogate-control': 'max-age=9' }
const notStored = { 'cache-control': NOT_STORED }

describe('a response of Next', () => {
  it.each<[string, string | undefined, Render, object]>([
    ['a page', 'HIT', reading(pageOf('a,_N_T_/blog')), { ...stored, 'cache-tag': 'a,_N_T_/blog' }],
    ['data of a dynamic page', undefined, reading(null, 'FETCH'), { ...stored, 'cache-tag': 'own,_N_T_/soft' }],
    ['a page of the Pages Router', 'HIT', reading(null, 'PAGES'), { ...stored, 'cache-tag': '_N_T_/blog' }],
    ['its index', 'HIT', reading(null, 'PAGES', '/index'), { ...stored, 'cache-tag': '_N_T_/' }],
    ['a dynamic page without data', undefined, () => {}, stored],
    ['a page whose tags are unknown', 'HIT', () => {}, notStored],
    [
      'a stale page',
      'STALE',
      reading(pageOf('a')),
      { ...stored, 'cache-control': 's-maxage=1, stale-while-revalidate=300', 'cache-tag': 'a' },
    ],
  ])('has tags, or none may store it: %s', async (_, state, render, head) => {
    expect(await headOf(taggedResponses().responses, state, render)).toEqual(head)
  })

  it('has the tags of a page that it renders first', async () => {
    const render: Render = async () => {
      const handler = handlerWith(null)
      await handler.get('/new', { kind: 'APP_PAGE' })
      await handler.set('/new', pageOf('b').value as { kind: string }, {})
    }
    expect(await headOf(taggedResponses().responses, 'MISS', render)).toEqual({ ...stored, 'cache-tag': 'b' })
  })

  it('has the tags of the request with which Next has coalesced it', async () => {
    const { responses } = taggedResponses()
    await headOf(responses, 'HIT', reading(pageOf('a')))
    expect(await headOf(responses, 'HIT', () => {})).toEqual({ ...stored, 'cache-tag': 'a' })
    expect(await headOf(responses, 'HIT', () => {}, '/?other')).toEqual(notStored)
  })

  it('keeps tags that the app has set', async () => {
    const render: Render = async (response) => {
      response.setHeader('Cache-Tag', 'of-app')
      await reading(pageOf('a'))(response)
    }
    expect(await headOf(taggedResponses().responses, 'HIT', render)).toEqual({ ...stored, 'cache-tag': 'of-app,a' })
  })

  it('has no tags of a page that it regenerates on demand', async () => {
    const render: Render = async () => void (await handlerWith(pageOf('a'), 'secret').get('/', { kind: 'APP_PAGE' }))
    expect(await headOf(taggedResponses().responses, undefined, render)).toEqual(stored)
  })
})

describe('no CDN may store a response', () => {
  it.each<[string, (responses: TaggedResponses) => void, object]>([
    ['whose tag was revalidated while it was rendered', (responses) => responses.revalidated(['x', 'a']), notStored],
    ['that was rendered when any page may have changed', (responses) => responses.lost(), notStored],
    ['but one without the tag', (responses) => responses.revalidated(['x']), { ...stored, 'cache-tag': 'a' }],
  ])('%s', async (_, revalidate, head) => {
    const { responses } = taggedResponses()
    const render: Render = async (response) => {
      await reading(pageOf('a'))(response)
      revalidate(responses)
    }
    expect(await headOf(responses, 'HIT', render)).toEqual(head)
    expect(await headOf(responses, 'HIT', reading(pageOf('a')))).toEqual({ ...stored, 'cache-tag': 'a' })
  })

  it('whose tags do not fit, and the log says so once', async () => {
    const { responses, warn } = taggedResponses()
    for (const url of ['/one', '/two']) {
      expect(await headOf(responses, 'HIT', reading(pageOf('t'.repeat(1025))), url)).toEqual(notStored)
    }
    expect(warn.mock.calls).toEqual([
      [{ url: 'app.example /one', tags: 1 }, 'tags do not fit into Cache-Tag: no CDN may store the response'],
    ])
  })
})
