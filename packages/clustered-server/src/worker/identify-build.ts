// By which build a worker serves: see the option `linger`.

import type { IncomingMessage } from 'node:http'

/** The build that a request is for. */
export interface RequestedBuild {
  readonly id: string
  /** Name of the request header that selects the build. Without it, the URL does. */
  readonly header?: string
}

/** The build of an app, and how a request names one. */
export interface Build {
  /** Ids by which requests name this build. Empty ones do not count. */
  readonly ids: readonly string[]
  /** Folder of the build. When another build has replaced the files in it, the older one cannot be served. */
  readonly folder?: string
  /** Returns the build that a request names, known or not. If it throws, the request names none. */
  readonly requestedBy: (request: IncomingMessage) => RequestedBuild | undefined
}

/** An app may load another copy of this package than the server, as that of its release. */
const BUILDS = Symbol.for('clustered-server.builds')
const ofProcess = globalThis as { [BUILDS]?: Build[] }

/**
 * Names the build of this worker, so that with the option `linger` requests reach the build that they name. Call it
 * before the app has loaded. Returns false where that option is not set, as in a process without a cluster.
 *
 * @example
 * identifyBuild({
 *   ids: [readFileSync(new URL('build-id.txt', import.meta.url), 'utf8').trim()],
 *   requestedBy: ({ headers }) => {
 *     const id = headers['x-build']
 *     return typeof id === 'string' ? { id, header: 'x-build' } : undefined
 *   },
 * })
 */
export function identifyBuild(build: Build): boolean {
  ofProcess[BUILDS]?.push(build)
  return ofProcess[BUILDS] !== undefined
}

/** Starts to collect the builds of this process. */
export function collectBuilds(): readonly Build[] {
  return (ofProcess[BUILDS] ??= [])
}
