// Loads the Next that the app was built with. This package may see another version.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { RequestHandler, UpgradeHandler } from 'next/dist/server/next.js'
import satisfies from 'semver/functions/satisfies.js'
import { standaloneConfig } from './built-config.ts'
import { NextMissingError, NextVersionError, NoBuildError, NotPreparedError } from '../errors.ts'
import { instrumentationRegistered } from './instrumentation-registered.ts'
import { claimProcess } from './one-app.ts'
import { collectNextListeners } from './uncaught-errors.ts'
import { type CreateMiddleware, replaceCompression, withCompression } from './replaced-compression.ts'
import type { CompressionMiddleware } from './handler-types.ts'

/** The used parts of a Next server. */
interface NextServer {
  prepare(): Promise<void>
  getRequestHandler(): RequestHandler
  close(): Promise<void>
  /** Missing in Next's types. The handler of `getUpgradeHandler()` does nothing in production. */
  readonly upgradeHandler?: UpgradeHandler
}

/** The folder of an app, and the options that Next gets. */
export interface NextOptions {
  dir: string
  dev: boolean
  hostname: string | undefined
  port: number | undefined
}

/** Older versions have known vulnerabilities: middleware bypass, remote code execution. */
const SUPPORTED = '>=15.5.29 <17'

/** A started Next server. */
export interface StartedNext {
  readonly next: NextServer
  /** The middleware that replaces Next's compression, if Next uses it. */
  readonly compression: CompressionMiddleware | undefined
  /** Leaves uncaught errors to Next, which logs them. Until then, they end the process. */
  readonly logUncaughtErrors: () => void
  readonly close: () => Promise<void>
}

/**
 * Starts the Next server of an app, which is then ready for requests.
 *
 * @param createCompression - replaces Next's compression
 */
export async function startNext(options: NextOptions, createCompression?: CreateMiddleware): Promise<StartedNext> {
  const { createNext, folder } = loadNext(options.dir, createCompression !== undefined)
  const claim = claimProcess(options.dir, folder)
  // Next listens for upgrades on the given server, and would close sockets of other handlers there. This server never
  // listens: http/upgrades.ts routes upgrades.
  const listeners = collectNextListeners(folder)
  const next = createNext({ ...options, httpServer: createServer() })
  const prepare = (): Promise<void> =>
    withConfig(options.dev ? undefined : standaloneConfig(options.dir), () => next.prepare())
  let compression: CompressionMiddleware | undefined
  try {
    if (createCompression === undefined) await prepare()
    else compression = await withCompression(createCompression, prepare)
    await instrumentationRegistered(next)
  } catch (cause) {
    await next.close()
    claim.failed()
    listeners.removeAfterFailure()
    throw Object.assign(notPrepared(options, cause), { cause })
  }
  listeners.remove()
  return {
    next,
    compression,
    logUncaughtErrors: () => listeners.restore(),
    close: () => claim.close(() => next.close()),
  }
}

/** The variable by which the server of `output: 'standalone'` passes the configuration to Next. */
const CONFIG = '__NEXT_PRIVATE_STANDALONE_CONFIG'

/** Starts Next with a configuration, if there is one. */
async function withConfig(config: object | undefined, start: () => Promise<void>): Promise<void> {
  if (!config || process.env[CONFIG] !== undefined) return start()
  process.env[CONFIG] = JSON.stringify(config)
  try {
    await start()
  } finally {
    // Child processes must not inherit it.
    delete process.env[CONFIG]
  }
}

/** The error of a Next that does not start. Next has no code for a missing build, only a message. */
function notPrepared({ dir, dev }: NextOptions, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (!dev && reason.includes('production build')) {
    return new NoBuildError(
      `No build of the Next app in ${dir}: run "npx next build" there, or set "dev" to true. ${reason}`,
    )
  }
  return new NotPreparedError(`The Next app in ${dir} failed to start: ${reason}`)
}

function loadNext(
  dir: string,
  replacesCompression: boolean,
): { createNext: (options: object) => NextServer; folder: string } {
  const fromApp = createRequire(join(dir, 'package.json'))
  let version: string
  try {
    ;({ version } = fromApp('next/package.json') as { version: string })
  } catch (cause) {
    throw Object.assign(
      new NextMissingError(
        `The package "next" is not installed for ${dir}: run "npm install next react react-dom" there.`,
      ),
      {
        cause,
      },
    )
  }
  if (!satisfies(version, SUPPORTED, { includePrerelease: true })) {
    throw new NextVersionError(`Unsupported version of "next" for ${dir}: expected ${SUPPORTED}, got ${version}.`)
  }
  if (replacesCompression) replaceCompression(fromApp)
  const createNext = fromApp('next') as (options: object) => NextServer
  return { createNext, folder: dirname(fromApp.resolve('next/package.json')) }
}
