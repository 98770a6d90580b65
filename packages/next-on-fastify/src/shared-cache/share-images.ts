// Shares the transformed images of an app, if its Next has the interface for that.

import type { FastifyBaseLogger } from 'fastify'
import type { NextConfig } from '../next/config.ts'
import { installImageCacheHandler } from '../next/image-cache/image-cache-handler.ts'
import { UnsupportedNextError } from '../next/internals.ts'
import { Availability } from './outage-log.ts'
import { SharedImages, type ImageStore } from './shared-images.ts'

/** The cache of an app's images. Undefined if Next transforms none, or may store none. */
export function imagesOf(
  store: ImageStore | undefined,
  { images }: NextConfig,
  log: FastifyBaseLogger,
): SharedImages | undefined {
  const isTransforming = images?.unoptimized !== true && (images?.loader ?? 'default') === 'default'
  if (store === undefined || !isTransforming) return undefined
  return new SharedImages(store, {
    reading: new Availability(log, {
      works: 'shared cache of images is available again',
      fails: 'shared cache of images is unavailable: each process transforms its images itself',
    }),
    storing: new Availability(log, {
      works: 'shared cache of images stores images again',
      fails: 'shared cache of images cannot store images: they are transformed again',
    }),
  })
}

/** Has a started Next use the cache. Without its interface, each process transforms its images itself. */
export async function shareImages(
  dir: string,
  next: object,
  images: SharedImages,
  log: FastifyBaseLogger,
): Promise<void> {
  try {
    await installImageCacheHandler(dir, next, images)
  } catch (error) {
    if (!(error instanceof UnsupportedNextError)) throw error
    log.info({ dir }, `each process transforms its images itself: ${error.message}`)
  }
}
