// Allows one Next app per process, started once. Next stores state of one app in its modules, in globals and in the
// environment: prerendered pages, client references, the loader of client components, and variables of `.env`. A second
// app would serve pages and variables of the first. A closed app cannot start again.

import { realpathSync } from 'node:fs'
import { SecondAppError } from '../errors.ts'

/** The app of one copy of Next. */
interface Held {
  readonly folder: string
  /** Number of open servers of the app. */
  servers: number
  /** Functions that close the Next servers of closed apps. */
  readonly closing: (() => Promise<void>)[]
  isClosed: boolean
}

// Two copies of this package may be loaded.
const PLACE = Symbol.for('next-on-fastify.apps')
const ofProcess = globalThis as { [PLACE]?: Map<string, Held> }
/** The app of each copy of Next, by the folder of the copy. Modules of Next outlive the server. */
const apps = (ofProcess[PLACE] ??= new Map())

/** The claim of a server on its process. */
export interface ProcessClaim {
  /** Ends the claim. Servers of one app share Next's renderer, so Next closes with the last of them. */
  close(closeNext: () => Promise<void>): Promise<void>
  /** Ends the claim of a server that failed to start. */
  failed(): void
}

/**
 * Claims the process for the app in `dir`, served by the copy of Next in `copy`.
 *
 * @throws NEXT_ON_FASTIFY_SECOND_APP
 */
export function claimProcess(dir: string, copy: string): ProcessClaim {
  const folder = realpathSync(dir)
  assertFree(folder, copy)
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

function assertFree(folder: string, copy: string): void {
  for (const [other, held] of apps) {
    if (held.folder !== folder && (other === copy || held.servers > 0)) {
      throw new SecondAppError(
        `Second Next app in one process: got ${folder} after ${held.folder}. Next would serve pages and environment variables of the first app to clients of the second: run each app in its own process.`,
      )
    }
    if (other === copy && held.isClosed) {
      throw new SecondAppError(
        `The Next app in ${folder} was closed and cannot start again in this process, because Next would respond 500: start a new process.`,
      )
    }
  }
}
