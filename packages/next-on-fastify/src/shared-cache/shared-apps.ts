// Which apps of this process share their cache, and with whom.

import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Sharing } from './handler.ts'

/** By the folder that Next tells its cache handler; several servers of a process may serve one app. */
const shared = new Map<string, { readonly sharing: Sharing; servers: number }>()
/** What Next tells as it is written, so that it is looked up once. */
const written = new Map<string, string>()

/** How the app shares its cache whose build has that folder `server`. */
export function sharingOf(serverDistDir: string): Sharing | undefined {
  if (shared.size === 0) return undefined
  let folder = written.get(serverDistDir)
  if (folder === undefined) {
    folder = realpathSync(resolve(serverDistDir))
    written.set(serverDistDir, folder)
  }
  return shared.get(folder)?.sharing
}

/** Shares the cache of an app from now on, until the function that it returns is called. */
export function share(
  serverDistDir: string,
  make: () => Sharing,
): { readonly sharing: Sharing; readonly stop: () => void } {
  const folder = realpathSync(serverDistDir)
  const entry = shared.get(folder) ?? { sharing: make(), servers: 0 }
  shared.set(folder, entry)
  entry.servers++
  const stop = (): void => {
    entry.servers--
    if (entry.servers > 0) return
    shared.delete(folder)
    entry.sharing.cache.close()
  }
  return { sharing: entry.sharing, stop }
}
