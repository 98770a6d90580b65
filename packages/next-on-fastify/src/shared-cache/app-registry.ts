// The apps of this process that have a shared cache.

import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { SharedCacheContext } from './shared-cache-handler.ts'

/** Contexts by the folder that Next passes to its cache handler. Several servers of a process may serve one app. */
const apps = new Map<string, { readonly context: SharedCacheContext; servers: number }>()
/** Resolved folders, by the path that Next passes. */
const resolved = new Map<string, string>()

/** The context of the app whose build has that folder `server`. */
export function contextOf(serverDistDir: string): SharedCacheContext | undefined {
  if (apps.size === 0) return undefined
  let folder = resolved.get(serverDistDir)
  if (folder === undefined) {
    folder = realpathSync(resolve(serverDistDir))
    resolved.set(serverDistDir, folder)
  }
  return apps.get(folder)?.context
}

/** Adds an app, and returns its context and the function that removes it. */
export function addApp(
  serverDistDir: string,
  createContext: () => SharedCacheContext,
): { readonly context: SharedCacheContext; readonly remove: () => void } {
  const folder = realpathSync(serverDistDir)
  const app = apps.get(folder) ?? { context: createContext(), servers: 0 }
  apps.set(folder, app)
  app.servers++
  const remove = (): void => {
    app.servers--
    if (app.servers > 0) return
    apps.delete(folder)
    app.context.cache.close()
    app.context.images?.close()
  }
  return { context: app.context, remove }
}
