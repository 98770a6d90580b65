// The apps of test/fixtures, built by the newest or by the lowest supported Next.

import { execFile, execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))
// Next does not compile what lies in node_modules.
const FIXTURES = join(PACKAGE, '.fixtures')

/** Milliseconds that a hook may take that builds it on a slow and busy machine. */
export const BUILD_TIMEOUT = 600_000

export type Peers = 'lowest' | 'newest'

/** Folder of an app in test/fixtures. */
export type Fixture = 'app' | 'cached' | 'components' | 'direct' | 'features' | 'shared' | 'skew' | 'zone'

/** Apps that import this package, and what they import of it. */
const IMPORTS: Partial<Record<Fixture, readonly string[]>> = {
  app: ['async-context/current-request.ts', 'errors.ts', 'request.ts'],
}

/** Builds the app unless that was done before, and returns its folder, whose `next` is the one that built it. */
export async function builtFixture(
  peers: Peers,
  env: Readonly<Record<string, string>> = {},
  app: Fixture = 'app',
): Promise<string> {
  const next = nextOf(peers)
  const { version } = JSON.parse(readFileSync(join(next, 'package.json'), 'utf8')) as { version: string }
  const folder = join(FIXTURES, `${version}-${hashOf(app, JSON.stringify(env))}`)
  if (existsSync(folder)) return folder
  // It gets its name when it is whole, so that nobody takes a part of it.
  const unfinished = copiedFixture(peers, app)
  const { NODE_ENV: _, ...inherited } = process.env
  await promisify(execFile)(process.execPath, [join(next, 'dist/bin/next'), 'build'], {
    cwd: unfinished,
    env: { ...inherited, ...env, NEXT_TELEMETRY_DISABLED: '1' },
  })
  if (!existsSync(folder)) renameSync(unfinished, folder)
  return folder
}

/** Copies the sources of the app, and returns the new folder. */
export function copiedFixture(peers: Peers, app: Fixture = 'app'): string {
  const folder = join(FIXTURES, randomUUID())
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  cpSync(sourceOf(app), folder, { recursive: true })
  const proxy = join(folder, 'proxy.js')
  if (peers === 'lowest' && existsSync(proxy)) {
    // An older Next knows it by another name, and runs it elsewhere unless it is told.
    const source = readFileSync(proxy, 'utf8')
    const runtime = app in IMPORTS ? "runtime: 'nodejs', " : ''
    writeFileSync(join(folder, 'middleware.js'), source.replace('config = { ', `$&${runtime}`))
    rmSync(proxy)
  }
  symlinkSync(nextOf(peers), join(folder, 'node_modules/next'))
  if (app in IMPORTS) installPackage(join(folder, 'node_modules/next-on-fastify'))
  return folder
}

function sourceOf(app: Fixture): string {
  return join(PACKAGE, 'test/fixtures', app)
}

function nextOf(peers: Peers): string {
  return realpathSync(join(PACKAGE, 'node_modules', peers === 'lowest' ? 'next-lowest' : 'next'))
}

/** Puts there what people install: a linked package would see another Next, and Next does not compile what it finds there. */
function installPackage(folder: string): void {
  const { name, type, publishConfig } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
    name: string
    type: string
    publishConfig: { exports: object }
  }
  execFileSync('tsc', ['-p', join(PACKAGE, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')])
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, type, exports: publishConfig.exports }))
}

/** Hash of the sources, and of what else they are built with. */
function hashOf(app: Fixture, more: string): string {
  const source = sourceOf(app)
  const hash = createHash('sha256').update(more)
  for (const file of IMPORTS[app] ?? []) hash.update(readFileSync(join(PACKAGE, 'src', file)))
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const path of files.toSorted()) hash.update(path.slice(source.length)).update(readFileSync(path))
  return hash.digest('hex').slice(0, 16)
}
