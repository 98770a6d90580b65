// Loads the undocumented parts of Next that direct rendering needs, from the copy of Next that serves the app.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { type NextConfig, readConfig, unprovenSetting } from '../config.ts'
import type { CompressionMiddleware, NextHandler } from '../handler-types.ts'
import { functionOf, type RequestMeta, type RouteMatch, UnsupportedNextError } from '../internals.ts'
import { entrypointsOf, type FindEntrypoint } from './entrypoints.ts'

/** The used parts of Next's modules. */
export interface NextParts {
  readonly config: NextConfig
  readonly handle: NextHandler
  readonly getMeta: (request: IncomingMessage) => RequestMeta
  readonly setMeta: (request: IncomingMessage, meta: RequestMeta) => unknown
  readonly isAbortError: (error: unknown) => boolean
  /** Finds the route and the parameters of a path. Undefined for versions that look them up themselves. */
  readonly matchOf: ((path: string) => RouteMatch | null) | undefined
  readonly entrypointOf: FindEntrypoint | undefined
  readonly compress: CompressionMiddleware | undefined
  /** Releases the compression of a response whose client has disconnected. Older versions do not. */
  readonly release: ((response: ServerResponse) => void) | undefined
}

/** Loads a module of the app's Next, by its path in `next/dist`. */
type Load = (path: string) => Record<string, unknown>

/**
 * Loads the parts.
 *
 * @param replacement - replaces Next's compression
 * @throws UnsupportedNextError when a part is missing, or for a configuration without proof of equal responses
 */
export async function loadNextParts(
  dir: string,
  next: object,
  log: FastifyBaseLogger,
  replacement?: CompressionMiddleware,
): Promise<NextParts> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const load: Load = (path) => fromApp(`next/dist/${path}`) as Record<string, unknown>
  const config = await readConfig(dir)
  const { version } = fromApp('next/package.json') as { version: string }
  const unproven = unprovenSetting(config, version, 'routerBypass')
  if (unproven !== undefined) throw new UnsupportedNextError(`its configuration has "${unproven}"`)

  const { server } = next as { server?: Record<string, unknown> }
  const inner = (await functionOf(server, 'getServer').call(server)) as Record<string, unknown>
  const meta = load('server/request-meta')
  const compression = fromApp('next/dist/compiled/compression') as () => CompressionMiddleware
  const matchOf = inner['getRouteMatch'] === undefined ? undefined : functionOf(inner, 'getRouteMatch').bind(inner)
  const handle = functionOf(server, 'getRequestHandler').call(server) as NextHandler
  const getMeta = functionOf(meta, 'getRequestMeta') as NextParts['getMeta']
  return {
    config,
    handle,
    getMeta,
    setMeta: functionOf(meta, 'setRequestMeta'),
    isAbortError: functionOf(load('server/pipe-readable'), 'isAbortError') as NextParts['isAbortError'],
    matchOf: matchOf as NextParts['matchOf'],
    entrypointOf: matchOf && entrypointsIn(inner, getMeta, log),
    compress: config.compress === false ? undefined : (replacement ?? compression()),
    release: releaseOf(load),
  }
}

function entrypointsIn(
  server: Readonly<Record<string, unknown>>,
  getMeta: NextParts['getMeta'],
  log: FastifyBaseLogger,
): FindEntrypoint | undefined {
  try {
    return entrypointsOf(server, getMeta)
  } catch (err) {
    log.warn({ err }, 'direct entry points disabled: this Next calls routes in another way')
    return undefined
  }
}

function releaseOf(load: Load): NextParts['release'] {
  let module: Record<string, unknown>
  try {
    module = load('server/lib/release-compression-stream')
  } catch {
    return undefined
  }
  return functionOf(module, 'releaseCompressionStream')
}
