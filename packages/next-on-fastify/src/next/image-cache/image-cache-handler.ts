// Next's public interface for a cache of transformed images, and its place in Next. By the configuration, Next takes such a
// handler only together with one for pages, which is fixed at build time.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import satisfies from 'semver/functions/satisfies.js'
import { functionOf, UnsupportedNextError } from '../internals.ts'

/** A transformed image as Next passes it. */
export interface ImageValue {
  readonly kind: 'IMAGE'
  readonly buffer: Uint8Array
  readonly etag: string
  readonly extension: string
  readonly upstreamEtag: string
  /** How long it is fresh, in seconds. */
  readonly revalidate: number
}

/** An image that a handler returns. Without `lastModified`, Next treats it as fresh. */
export interface FoundImage {
  readonly value: ImageValue
  readonly lastModified?: number
}

/** A cache of transformed images. A key names the source, the width, the quality and the format. */
export interface ImageCacheHandler {
  /** If it resolves to null or a stale image, Next transforms the image, and calls `set` or `failed`. */
  get(key: string): Promise<FoundImage | null>
  set(key: string, value: ImageValue): Promise<void>
  /** Not part of Next's interface. */
  failed(key: string): void
}

/** The first version whose documentation has the interface. */
const SUPPORTED = '>=16.2.0'

type Server = Record<string, unknown>
type Transform = (request: unknown, response: unknown, parameters: unknown, previous: unknown) => Promise<unknown>

/** Servers of Next with a handler. Several Fastify servers of a process may have one. */
const installed = new WeakSet<object>()

/**
 * Installs a handler for images in the server of Next.
 *
 * @throws UnsupportedNextError for a Next with another interface
 */
export async function installImageCacheHandler(dir: string, next: object, handler: ImageCacheHandler): Promise<void> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const { version } = fromApp('next/package.json') as { version: string }
  if (!satisfies(version, SUPPORTED, { includePrerelease: true })) {
    throw new UnsupportedNextError('its Next has no cache handler for images')
  }
  const { server } = next as { server?: Server }
  const inner = (await functionOf(server, 'getServer').call(server)) as Server
  if (installed.has(inner)) return
  const keyOf = keyFunction(fromApp)
  const transform = functionOf(inner, 'imageOptimizer') as Transform
  // Next reads the property at each request, and sets it if the configuration asks for that.
  if (!String(inner['handleNextImageRequest']).includes('this.imageCacheHandler')) {
    throw new UnsupportedNextError('its Next caches images in another way')
  }
  inner['imageCacheHandler'] = handler
  inner['imageOptimizer'] = async (...[request, response, parameters, previous]: Parameters<Transform>) => {
    try {
      return await transform.call(inner, request, response, parameters, previous)
    } catch (error) {
      handler.failed(keyOf(parameters))
      throw error
    }
  }
  installed.add(inner)
}

/** The function that returns the key of a transform. */
function keyFunction(fromApp: NodeJS.Require): (parameters: unknown) => string {
  let module: { ImageOptimizerCache?: Record<string, unknown> }
  try {
    module = fromApp('next/dist/server/image-optimizer') as typeof module
  } catch (cause) {
    throw Object.assign(new UnsupportedNextError('its Next has no image optimizer'), { cause })
  }
  return functionOf(module.ImageOptimizerCache, 'getCacheKey') as (parameters: unknown) => string
}
