// Calls the hook of the app after each revalidation by a request of this process. The response waits for it.

import type { FastifyBaseLogger } from 'fastify'
import { PATH_TAG } from '../next/page-cache/request-tags.ts'
import type { Revalidation } from '../options/types.ts'
import { writtenTags } from './tag-header.ts'

/** The hook of one app. */
export class RevalidationHook {
  readonly #hook: (revalidation: Revalidation) => unknown
  readonly #timeout: number
  readonly #prefix: string
  readonly #log: FastifyBaseLogger

  constructor(hook: (revalidation: Revalidation) => unknown, timeout: number, prefix: string, log: FastifyBaseLogger) {
    this.#hook = hook
    this.#timeout = timeout
    this.#prefix = prefix
    this.#log = log
  }

  /**
   * Calls the hook, and waits until it has ended, failed or timed out. It never rejects: the data has changed, so a client
   * that gets an error would repeat an action that is done.
   */
  async call(tags: readonly string[]): Promise<void> {
    const revalidated = { tags: writtenTags(tags), paths: pathsOf(tags, this.#prefix) }
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort(new Error(`Timeout of onRevalidate: no end within ${this.#timeout} ms`))
    }, this.#timeout)
    try {
      const call = async (): Promise<unknown> => this.#hook({ ...revalidated, signal: late.signal })
      await Promise.race([call(), aborted(late.signal)])
    } catch (err) {
      this.#log.error({ err, ...revalidated }, 'onRevalidate failed: a CDN may serve stale responses, purge them again')
    } finally {
      clearTimeout(timer)
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** The URL paths of tags that Next derives from paths. */
function pathsOf(tags: readonly string[], prefix: string): string[] {
  const paths = tags.filter((tag) => tag.startsWith(`${PATH_TAG}/`)).map((tag) => tag.slice(PATH_TAG.length))
  // Next has two tags for the root.
  const isRoot = paths.includes('/')
  const own = isRoot ? paths.filter((path) => path !== '/index') : paths
  return own.map((path) => (prefix !== '' && path === '/' ? prefix : prefix + path))
}
