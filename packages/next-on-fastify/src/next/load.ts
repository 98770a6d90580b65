// The Next that the app was built with, which need not be the one that this package sees.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { RequestHandler, UpgradeHandler } from 'next/dist/server/next.js'
import { standaloneConfig } from './built-config.ts'
import { NextMissingError, NextVersionError, NoBuildError, NotPreparedError } from '../errors.ts'
import { claimProcess } from './one-app.ts'

/** What is used of a Next server. */
interface NextServer {
  prepare(): Promise<void>
  getRequestHandler(): RequestHandler
  close(): Promise<void>
  /** Types do not tell of it; that of `getUpgradeHandler()` does nothing in production. */
  readonly upgradeHandler?: UpgradeHandler
}

/** Where Next is, and what it is told. */
export interface NextOptions {
  dir: string
  dev: boolean
  hostname: string | undefined
  port: number | undefined
}

// Of what is older, ways past middleware or to run code on the server are known.
const OLDEST = [15, 5, 29] as const
const TOO_NEW = 17

/** A Next server that has started, and how to close it. */
export interface StartedNext {
  readonly next: NextServer
  readonly close: () => Promise<void>
}

/** Starts the Next server of an app: it answers when this resolves. */
export async function startNext(options: NextOptions): Promise<StartedNext> {
  const { createNext, folder } = loadNext(options.dir)
  const claim = claimProcess(options.dir, folder)
  // Next listens for upgrades on the server that it is told, or else on that of its first request, where it would end
  // sockets which are not its own. This one has none: who gets an upgrade is decided in upgrades.ts.
  const next = createNext({ ...options, httpServer: createServer() })
  try {
    await withConfig(options.dev ? undefined : standaloneConfig(options.dir), () => next.prepare())
  } catch (cause) {
    await next.close()
    claim.failed()
    throw Object.assign(notPrepared(options, cause), { cause })
  }
  return {
    next,
    close: () => claim.close(() => next.close()),
  }
}

/** The way in which the server that `output: 'standalone'` writes tells Next its configuration. */
const CONFIG = '__NEXT_PRIVATE_STANDALONE_CONFIG'

/** Lets Next start with a configuration, if there is one. */
async function withConfig(config: object | undefined, start: () => Promise<void>): Promise<void> {
  if (!config || process.env[CONFIG] !== undefined) return start()
  process.env[CONFIG] = JSON.stringify(config)
  try {
    await start()
  } finally {
    // Another app of this process has another one.
    delete process.env[CONFIG]
  }
}

/** The error of a Next that does not start. Of a build that is missing Next tells by its message alone. */
function notPrepared({ dir, dev }: NextOptions, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (!dev && reason.includes('production build')) {
    return new NoBuildError(`Expected a build in ${dir}, as \`dev\` is false, got none: npx next build. ${reason}`)
  }
  return new NotPreparedError(`Expected the Next app in ${dir} to start, got: ${reason}`)
}

function loadNext(dir: string): { createNext: (options: object) => NextServer; folder: string } {
  const fromApp = createRequire(join(dir, 'package.json'))
  let version: string
  try {
    ;({ version } = fromApp('next/package.json') as { version: string })
  } catch (cause) {
    throw Object.assign(new NextMissingError(`Expected \`next\` to be installed for ${dir}: npm install next`), {
      cause,
    })
  }
  if (!isSupported(version)) {
    throw new NextVersionError(`Expected \`next\` of ${dir} to be >=${OLDEST.join('.')} <${TOO_NEW}, got ${version}`)
  }
  const createNext = fromApp('next') as (options: object) => NextServer
  return { createNext, folder: dirname(fromApp.resolve('next/package.json')) }
}

function isSupported(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  if (major >= TOO_NEW) return false
  const [oldestMajor, oldestMinor, oldestPatch] = OLDEST
  if (major !== oldestMajor) return major > oldestMajor
  return minor > oldestMinor || (minor === oldestMinor && patch >= oldestPatch)
}
