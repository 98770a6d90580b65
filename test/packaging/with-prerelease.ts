// Runs the tests that depend on a peer with a version of it to come, in a copy of the workspace:
// `npx -y pnpm@12 exec node test/packaging/with-prerelease.ts next@canary`. Any tag or version will do.

import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import semver from 'semver'
import { parseDocument } from 'yaml'
import { failureSummary, summaryOf, type Report } from './prerelease-summary.ts'
import { pnpm, readJson, run } from './tarball.ts'
import { copyWorkspace, ROOT } from './workspace-copy.ts'

interface Peer {
  /** A package of this workspace that has it installed. */
  readonly installedIn: string
  /** Packages of the same version beside it. */
  readonly together?: readonly string[]
  /** Paths of tests, as arguments of vitest. */
  readonly tests: readonly string[]
}

const PEERS: Readonly<Record<string, Peer>> = {
  '@trpc/server': {
    installedIn: 'trpc-fastify',
    together: ['@trpc/client'],
    tests: ['packages/trpc-fastify/', 'test/conformance/trpc'],
  },
  fastify: {
    installedIn: 'trpc-fastify',
    tests: [
      ...['aggregator-gateway', 'clustered-server', 'next-on-fastify', 'trpc-fastify'].map(
        (name) => `packages/${name}/`,
      ),
      'test/conformance/',
    ],
  },
  next: { installedIn: 'next-on-fastify', tests: ['packages/next-on-fastify/', 'test/conformance/next'] },
}
const PROJECTS = ['unit', 'differential*', 'conformance']

/** Splits `@scope/name@tag`. */
export function partsOf(specifier: string): { name: string; tag: string; peer: Peer } {
  const [, name = '', tag = ''] = /^(@?[^@]+)@(.+)$/.exec(specifier) ?? []
  const peer = PEERS[name]
  if (peer) return { name, tag, peer }
  const examples = Object.keys(PEERS).map((one) => `${one}@<tag or version>`)
  throw new Error(`Expected ${examples.join(', ')}, got ${JSON.stringify(specifier)}`)
}

/** The settings of pnpm that replace every dependency on the given packages. */
export function withOverrides(settings: string, names: readonly string[], version: string): string {
  const document = parseDocument(settings)
  for (const name of names) document.setIn(['overrides', name], version)
  // pnpm installs no version of the last day, and canaries come every day.
  document.set('minimumReleaseAge', 0)
  return document.toString()
}

/** The version of a tag. There is none while no prerelease is in preparation. */
async function versionOf(specifier: string): Promise<string | undefined> {
  const { code, stdout, output } = await run(ROOT, [...pnpm(), 'view', specifier, 'version', '--json'])
  if (output.includes('ERR_PNPM_PACKAGE_NOT_FOUND')) return undefined
  if (code !== 0) throw new Error(`\`pnpm view ${specifier}\` failed:\n${output}`)
  const versions = [JSON.parse(stdout) as string | string[]].flat()
  return semver.rsort(versions)[0]!
}

interface Trial {
  readonly name: string
  readonly version: string
  readonly stable: string
  readonly peer: Peer
}

/** Installs and runs the tests in a copy. Returns the summary, and whether all tests passed. */
async function tryIn(copy: string, { name, version, stable, peer }: Trial): Promise<{ passed: boolean; text: string }> {
  const heading = `${name} ${version} (instead of ${stable})`
  copyWorkspace(copy)
  const settings = join(copy, 'pnpm-workspace.yaml')
  const overrides = withOverrides(readFileSync(settings, 'utf8'), [name, ...(peer.together ?? [])], version)
  writeFileSync(settings, overrides)
  const installed = await run(copy, [...pnpm(), 'install', '--no-frozen-lockfile'])
  if (installed.code !== 0) return { passed: false, text: failureSummary(heading, 'pnpm install', installed.output) }

  const file = join(copy, 'report.json')
  const projects = PROJECTS.flatMap((project) => ['--project', project])
  const reporters = ['--reporter', 'default', '--reporter', 'json', '--outputFile.json', file]
  const vitest = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run'] as const
  const tested = await run(copy, [...vitest, ...projects, ...reporters, ...peer.tests], printed())
  if (!existsSync(file)) return { passed: false, text: failureSummary(heading, 'vitest', tested.output) }
  const text = summaryOf(heading, readJson(file) as unknown as Report, copy)
  return { passed: tested.code === 0, text }
}

/** Prints output as it comes. */
function printed(): (output: string) => void {
  let length = 0
  return (output) => {
    process.stdout.write(output.slice(length))
    length = output.length
  }
}

async function main(specifier: string): Promise<boolean> {
  const { name, peer } = partsOf(specifier)
  const installed = join(ROOT, 'packages', peer.installedIn, 'node_modules', name, 'package.json')
  const stable = readJson(installed)['version'] as string
  const version = await versionOf(specifier)
  if (version === undefined || semver.lte(version, stable)) {
    const found = version === undefined ? 'No version has this tag.' : `This is ${version}.`
    show(`## ${specifier}\n\n${found} All tests run with ${stable}: there is nothing newer to try.\n`)
    return true
  }
  const copy = mkdtempSync(join(tmpdir(), 'prerelease-'))
  try {
    const { passed, text } = await tryIn(copy, { name, version, stable, peer })
    show(text)
    return passed
  } finally {
    rmSync(copy, { recursive: true })
  }
}

function show(text: string): void {
  console.log(`\n${text}`)
  const summary = process.env['GITHUB_STEP_SUMMARY']
  if (summary) appendFileSync(summary, text)
}

if (import.meta.main) {
  const passed = await main(process.argv[2] ?? '').catch((error: Error) => console.error(error.message))
  process.exitCode = passed ? 0 : 1
}
