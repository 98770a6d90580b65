// One Next app per process, started once. Next keeps in its modules, in globals and in the environment what belongs to one
// app: prerendered pages by their path below `basePath`, client references by route, the loader of client components, and the
// variables of `.env`. A second app is served pages and variables of the first, and a closed app is never started again.

import { realpathSync } from 'node:fs'
import { SecondAppError } from '../errors.ts'

/** An app, as one copy of Next holds it. */
interface Held {
  readonly folder: string
  /** How many servers of the app are open. */
  servers: number
  /** Closes the servers of Next whose apps have closed. */
  readonly closing: (() => Promise<void>)[]
  isClosed: boolean
}

// Two copies of this package may be loaded.
const PLACE = Symbol.for('next-on-fastify.apps')
const ofProcess = globalThis as { [PLACE]?: Map<string, Held> }
/** The app of each copy of Next, by the folder of the copy: its modules outlive the server. */
const apps = (ofProcess[PLACE] ??= new Map())

/** The hold of a server on its process. */
export interface ProcessClaim {
  /** Ends the hold. Servers of one app share what Next renders with, so Next is closed with the last of them. */
  close(closeNext: () => Promise<void>): Promise<void>
  /** Ends the hold of a server that has not started. */
  failed(): void
}

/**
 * Holds the process for the app in `dir`, which is served by the copy of Next in `copy`.
 *
 * @throws NEXT_ON_FASTIFY_SECOND_APP
 */
export function claimProcess(dir: string, copy: string): ProcessClaim {
  const folder = realpathSync(dir)
  demandFree(folder, copy)
  const held = apps.get(copy) ?? { folder, servers: 0, closing: [], isClosed: false }
  apps.set(copy, held)
  held.servers++
  return {
    async close(closeNext) {
      held.closing.push(closeNext)
      held.servers--
      if (held.servers > 0) return
      held.isClosed = true
      await Promise.all(held.closing.splice(0).map((close) => close()))
    },
    failed() {
      held.servers--
      if (held.servers === 0 && held.closing.length === 0) apps.delete(copy)
    },
  }
}

function demandFree(folder: string, copy: string): void {
  for (const [other, held] of apps) {
    if (held.folder !== folder && (other === copy || held.servers > 0)) {
      throw new SecondAppError(
        `Expected one Next app per process, got ${folder} after ${held.folder}: Next would serve pages and environment variables of the first app to clients of the second. Run each app in a process of its own`,
      )
    }
    if (other === copy && held.isClosed) {
      throw new SecondAppError(
        `Expected ${folder} to be started once per process, got it again after it was closed: Next would respond 500. Start a new process`,
      )
    }
  }
}
