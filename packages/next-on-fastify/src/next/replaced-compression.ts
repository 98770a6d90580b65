// Replaces the compression of Next, which its router creates once, when it starts. The order of the router's steps stays
// the same, and the app sees the same request headers.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CompressionMiddleware } from './handler-types.ts'

type IsCompressible = (request: IncomingMessage, response: ServerResponse) => boolean

/** Creates the middleware that replaces Next's, which compresses these types. */
export type CreateMiddleware = (isCompressible: IsCompressible) => CompressionMiddleware

type CreateOriginal = ((...options: readonly unknown[]) => CompressionMiddleware) & { readonly filter?: IsCompressible }

/** The replacement for an app that is starting. Two servers of one app may start at the same time. */
interface Starting {
  readonly create: CreateMiddleware
  middleware: CompressionMiddleware | undefined
}

const starting = new AsyncLocalStorage<Starting>()

/**
 * Starts an app of which Next's compression is replaced. Returns the middleware that Next uses: undefined if Next does not
 * compress, or was loaded before.
 */
export async function withCompression(
  create: CreateMiddleware,
  start: () => Promise<void>,
): Promise<CompressionMiddleware | undefined> {
  const state: Starting = { create, middleware: undefined }
  await starting.run(state, start)
  return state.middleware
}

const MODULE = 'next/dist/compiled/compression'

/**
 * Replaces the function that creates Next's compression. Call it before Next's router is loaded. Other servers of the
 * process get Next's own. It does nothing for a Next version with another compression.
 */
export function replaceCompression(fromApp: NodeJS.Require): void {
  const original = originalOf(fromApp)
  const filter = original?.filter
  if (typeof original !== 'function' || typeof filter !== 'function') return
  const replacement: CreateOriginal = (...options) => {
    const state = starting.getStore()
    if (state === undefined) return original(...options)
    return (state.middleware ??= state.create(filter))
  }
  fromApp.cache[fromApp.resolve(MODULE)]!.exports = Object.assign(replacement, original)
}

function originalOf(fromApp: NodeJS.Require): CreateOriginal | undefined {
  try {
    return fromApp(MODULE) as CreateOriginal
  } catch {
    return undefined
  }
}
