import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as endOfTick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { pagePathOf } from '../../../src/next/page-cache/cache-handler-types.ts'
import { afterOlderPages, beginPage, type PendingPage } from '../../../src/shared-cache/older-renderings.ts'

describe('the path of a page by its cache key', () => {
  it.each([
    ['/index', '/'],
    ['/blog', '/blog'],
    ['/index/index', '/index'],
    ['/index/index/news', '/index/news'],
    ['/indexes', '/indexes'],
    ['/route-cache/[slug]/$/blog', '/blog'],
    ['/route-cache//$/index', '/'],
    ['/route-cache/index/[slug]/$/index/index/news', '/index/news'],
  ])('of %s is %s', (key, path) => {
    expect(pagePathOf(key)).toBe(path)
  })
})

describe('a request after a revalidation', () => {
  /** Begins a page within a request for a path, and returns it unended. */
  async function pendingPage(key: string, url: string): Promise<{ page: PendingPage; end: () => Promise<void> }> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let page: PendingPage | undefined
    const handler = afterOlderPages(
      async () => {
        page = beginPage(key, 1)
        await promise
      },
      () => 1,
    )
    const served = send(handler, url)
    await endOfTick()
    return {
      page: page!,
      end: async () => {
        resolve()
        await served
        await endOfTick()
      },
    }
  }

  function send(handler: ReturnType<typeof afterOlderPages>, url: string): Promise<void> {
    const request = new IncomingMessage(new Socket())
    request.url = url
    return handler(request, new ServerResponse(request))
  }

  /** Whether a request at a later position waits for the page. */
  async function waits(key: string, pageUrl: string, url: string): Promise<boolean> {
    const { page, end } = await pendingPage(key, pageUrl)
    let isServed = false
    const handler = afterOlderPages(
      async () => {
        isServed = true
      },
      () => 2,
    )
    const served = send(handler, url)
    await endOfTick()
    const hasWaited = !isServed
    await end()
    await page.ended
    await served
    expect(isServed).toBe(true)
    return hasWaited
  }

  it.each([
    ['the root', '/index', '/', '/'],
    ['a page at /index', '/index/index', '/index', '/index'],
    ['a page below /index', '/index/index/news', '/index/news', '/index/news'],
    ['a page below /index, by a rewrite', '/index/index/news', '/today', '/index/news'],
    ['the root, for its data', '/index', '/', '/_next/data/id/index.json'],
    ['the root, for its data under a base path', '/index', '/docs', '/docs/_next/data/id/index.json'],
    ['a page below /index, for its data', '/index/index/news', '/today', '/_next/data/id/index/index/news.json'],
    ['a page below /index, under a base path', '/index/index/news', '/docs/index/news', '/docs/index/news'],
    ['a rewritten page', '/blog', '/today', '/today'],
  ])('waits for %s that is older', async (_, key, pageUrl, url) => {
    expect(await waits(key, pageUrl, url)).toBe(true)
  })

  it.each([
    ['another page', '/blog', '/blog', '/shop'],
    ['the root, for a page at /index', '/index', '/', '/index'],
    ['a page at /index, for the root', '/index/index', '/index', '/'],
  ])('does not wait for %s', async (_, key, pageUrl, url) => {
    expect(await waits(key, pageUrl, url)).toBe(false)
  })
})
