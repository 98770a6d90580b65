// The Next that the app was built with, which need not be the one that this package sees.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { RequestHandler, UpgradeHandler } from 'next/dist/server/next.js'
import { NextMissingError, NextVersionError } from './errors.ts'

/** What is used of a Next server: its public methods. */
interface NextServer {
  prepare(): Promise<void>
  getRequestHandler(): RequestHandler
  getUpgradeHandler(): UpgradeHandler
  close(): Promise<void>
}

type CreateNextServer = (options: object) => NextServer

const OLDEST = [15, 0, 8] as const
const TOO_NEW = 17

/** Loads the `next` package that the folder of the app sees. */
export function loadNext(dir: string): CreateNextServer {
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
  return fromApp('next') as CreateNextServer
}

function isSupported(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  if (major >= TOO_NEW) return false
  const [oldestMajor, oldestMinor, oldestPatch] = OLDEST
  if (major !== oldestMajor) return major > oldestMajor
  return minor > oldestMinor || (minor === oldestMinor && patch >= oldestPatch)
}
