// Keeps a CDN in front of the app up to date: tags of responses, and a hook for revalidations.

import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import { onDemandSecret } from '../next/build/on-demand-secret.ts'
import { readConfig } from '../next/config.ts'
import type { NextHandler } from '../next/handler-types.ts'
import { onCacheChange } from '../next/page-cache/cache-events.ts'
import { CacheHandlerConflictError } from '../next/page-cache/install-cache-handler.ts'
import { onOwnRevalidation } from '../next/page-cache/own-revalidations.ts'
import { pathTag } from '../next/page-cache/request-tags.ts'
import type { CdnOptions } from '../options/types.ts'
import { installSharedHandler } from '../shared-cache/install-shared-handler.ts'
import { RevalidationHook } from './revalidation-hook.ts'
import { tagFormat } from './tag-header.ts'
import { TaggedResponses } from './tagged-responses.ts'

/** The steps that a CDN in front adds. */
export interface CdnSupport {
  /** Adds the tags to responses of Next. */
  tagged(next: NextHandler): NextHandler
  close(): void
}

/** How long a response waits for the hook, in ms. */
const TIMEOUT = 5000

/**
 * Supports the CDN of the app in `dir`.
 *
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION when the app has a cache handler of its own, whose revalidations are unknown
 */
export async function openCdn(
  dir: string,
  { tagHeader, onRevalidate, timeout = TIMEOUT }: CdnOptions,
  prefix: string,
  log: FastifyBaseLogger,
): Promise<CdnSupport> {
  const { cacheHandler, distDir } = await readConfig(dir)
  try {
    if (cacheHandler) throw new CacheHandlerConflictError('its configuration has "cacheHandler"')
    installSharedHandler(dir)
  } catch (error) {
    if (!(error instanceof CacheHandlerConflictError)) throw error
    throw new InvalidOptionError(
      `Invalid option "cdn": revalidations of the Next app in ${dir} are unknown, because ${error.message}: remove one of both.`,
    )
  }
  const responses = tagHeader && new TaggedResponses(tagFormat(tagHeader), log)
  const hook = onRevalidate && new RevalidationHook(onRevalidate, timeout, prefix, log)
  const secret = onDemandSecret(join(dir, distDir))
  const stops = [
    onCacheChange({
      replaced: () => {},
      revalidated: (tags) => responses?.revalidated(tags),
      lost: () => responses?.lost(),
    }),
    onOwnRevalidation({
      tagsRevalidated: async (tags) => hook?.call(tags),
      pageRegenerated: async (key, sent) => {
        if (sent !== secret) return
        responses?.revalidated([pathTag(key)])
        await hook?.call([pathTag(key)])
      },
    }),
  ]
  return {
    tagged: (next) => responses?.around(next) ?? next,
    close: () => stops.forEach((stop) => stop()),
  }
}
