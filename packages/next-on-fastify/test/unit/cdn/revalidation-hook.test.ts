import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { RevalidationHook } from '../../../src/cdn/revalidation-hook.ts'
import { withDelayedEnd } from '../../../src/http/delayed-end.ts'
import type { CacheHandler } from '../../../src/next/page-cache/cache-handler-types.ts'
import { notifyRevalidated } from '../../../src/next/page-cache/cache-events.ts'
import { observedHandler } from '../../../src/next/page-cache/observed-cache-handler.ts'
import { onOwnRevalidation } from '../../../src/next/page-cache/own-revalidations.ts'
import type { Revalidation } from '../../../src/options/types.ts'

function hookWith(hook: (revalidation: Revalidation) => unknown, timeout = 10_000, prefix = '') {
  const error = vi.fn<(fields: object, message: string) => void>()
  return { error, called: new RevalidationHook(hook, timeout, prefix, { error } as unknown as FastifyBaseLogger) }
}

describe('onRevalidate', () => {
  it.each([
    ['', ['posts', '_N_T_/blog'], ['posts', '_N_T_/blog'], ['/blog']],
    ['', ['_N_T_/', '_N_T_/index'], ['_N_T_/', '_N_T_/index'], ['/']],
    ['/docs', ['_N_T_/', '_N_T_/a'], ['_N_T_/', '_N_T_/a'], ['/docs', '/docs/a']],
    ['', ['two words', 'a,b'], ['two%20words', 'a', 'b'], []],
  ])('gets tags as the header has them, and paths below "%s": %j', async (prefix, revalidated, tags, paths) => {
    const hook = vi.fn<(revalidation: Revalidation) => void>()
    await hookWith(hook, 10_000, prefix).called.call(revalidated)
    expect(hook.mock.calls).toEqual([[{ tags, paths, signal: expect.any(AbortSignal) as AbortSignal }]])
  })

  it.each<[string, (revalidation: Revalidation) => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no CDN')
      },
      'no CDN',
    ],
    ['rejects', async () => Promise.reject(new Error('503 of the CDN')), '503 of the CDN'],
    ['never ends', () => new Promise(() => {}), 'Timeout of onRevalidate: no end within 1 ms'],
  ])('that %s is logged once with what to purge again, and fails nothing', async (_, hook, message) => {
    const { called, error } = hookWith(hook, 1)
    await called.call(['posts'])
    expect(error.mock.calls).toEqual([
      [
        { err: expect.objectContaining({ message }) as Error, tags: ['posts'], paths: [] },
        'onRevalidate failed: a CDN may serve stale responses, purge them again',
      ],
    ])
  })

  it('learns by its signal that nobody waits for it any longer', async () => {
    let signal: AbortSignal | undefined
    const { called } = hookWith((revalidation) => {
      ;({ signal } = revalidation)
      return new Promise(() => {})
    }, 1)
    await called.call(['posts'])
    expect(signal?.aborted).toBe(true)
  })
})

/** Next's handler for one request, and what it was told, in order. */
function handler(order: string[], headers: object = {}): CacheHandler {
  const Inner = class {
    async get(): Promise<null> {
      return null
    }
    async set(key: string): Promise<void> {
      order.push(`stored ${key}`)
    }
    async revalidateTag(tags: string | readonly string[]): Promise<void> {
      order.push(`revalidated ${[tags].flat().join()}`)
    }
  }
  return new (observedHandler(Inner))({ _requestHeaders: headers })
}

/** Records announcements, each of which takes some time. */
function announcedIn(order: string[]): void {
  const announce = async (what: string): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    order.push(`announced ${what}`)
  }
  onTestFinished(
    onOwnRevalidation({
      tagsRevalidated: (tags) => announce(tags.join()),
      pageRegenerated: (key, secret) => announce(`${key} ${String(secret)}`),
    }),
  )
}

describe('a revalidation', () => {
  it('is announced after it is done, and before the response ends', async () => {
    const order: string[] = []
    announcedIn(order)
    const request = new IncomingMessage(new Socket())
    const response = new ServerResponse(request)
    const sent = vi.spyOn(response, 'end').mockImplementation(() => {
      order.push('response')
      return response
    })
    await withDelayedEnd(async () => {
      // As Next does after a route handler: it does not wait.
      void handler(order).revalidateTag(['a', 'b'])
      response.end('changed')
    })(request, response)
    await vi.waitFor(() => expect(sent).toHaveBeenCalledWith('changed'))
    expect(order).toEqual(['revalidated a,b', 'announced a,b', 'response'])
  })

  it('on demand is announced with the secret that was sent, before Next continues', async () => {
    const order: string[] = []
    announcedIn(order)
    await handler(order, { 'x-prerender-revalidate': 'secret' }).set('/old', { kind: 'PAGES' }, {})
    expect(order).toEqual(['stored /old', 'announced /old secret'])
  })

  it('by time is not announced', async () => {
    const order: string[] = []
    announcedIn(order)
    await handler(order).set('/old', { kind: 'PAGES' }, {})
    expect(order).toEqual(['stored /old'])
  })

  it('by another process is not announced again', async () => {
    const order: string[] = []
    announcedIn(order)
    notifyRevalidated(['a'], undefined)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(order).toEqual([])
  })
})
