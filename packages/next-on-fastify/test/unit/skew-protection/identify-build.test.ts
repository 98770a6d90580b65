import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { identifyBuild, prepareBuild } from '../../../src/skew-protection/identify-build.ts'

const BUILDS = Symbol.for('clustered-server.builds')
const ofProcess = globalThis as { [BUILDS]?: { ids: string[]; folder: string }[] | undefined }
const NEXT = dirname(createRequire(import.meta.url).resolve('next/package.json'))

beforeEach(() => {
  ofProcess[BUILDS] = []
})
afterEach(() => {
  delete ofProcess[BUILDS]
  vi.unstubAllEnvs()
})

/** Identifies a build with one id, in a process with another one, and returns what was logged. */
async function identify(built: string | undefined, own: string | undefined): Promise<{ dir: string; lines: string[] }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'next-on-fastify-')))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(NEXT, join(dir, 'node_modules/next'))
  mkdirSync(join(dir, 'out'))
  writeFileSync(join(dir, 'package.json'), '{}')
  writeFileSync(join(dir, 'next.config.mjs'), 'export default { distDir: "out" }')
  writeFileSync(join(dir, 'out/required-server-files.json'), JSON.stringify({ config: { deploymentId: built } }))
  vi.stubEnv('NEXT_DEPLOYMENT_ID', own)
  const lines: string[] = []
  const at = (level: string) => (_: object, text: string) => void lines.push(`${level}: ${text}`)
  await identifyBuild(dir, { info: at('info'), warn: at('warn') } as unknown as FastifyBaseLogger)
  return { dir, lines }
}

describe('a build in a process that keeps older builds', () => {
  it('is named by its deploymentId and its folder', async () => {
    const { dir, lines } = await identify('a', 'a')
    expect(ofProcess[BUILDS]).toMatchObject([{ ids: ['a'], folder: join(dir, 'out') }])
    expect(lines).toEqual(['info: skew protection is on'])
  })

  it('gets a warning without a deploymentId', async () => {
    const { lines } = await identify(undefined, '')
    expect(ofProcess[BUILDS]).toMatchObject([{ ids: [] }])
    expect(lines).toEqual([
      'warn: skew protection is off: set "deploymentId" in next.config to another value for each build, such as the commit',
    ])
  })

  it.each([
    ['b', '"b"', ['b', 'a']],
    ['', 'none', ['a']],
  ])('has both ids and a warning where the process has the deploymentId %j', async (own, shown, ids) => {
    const { lines } = await identify('a', own)
    expect(ofProcess[BUILDS]).toMatchObject([{ ids }])
    expect(lines).toEqual([
      `warn: skew protection is off: the deploymentId of the build is "a", that of this process ${shown}. Set the same one for "next build" and the server, also in NEXT_DEPLOYMENT_ID`,
    ])
  })
})

it.each(['build-z', undefined])('starts Next with the id of its build where the process has %j', (own) => {
  const dir = mkdtempSync(join(tmpdir(), 'next-on-fastify-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, '.next'))
  writeFileSync(join(dir, '.next/required-server-files.json'), JSON.stringify({ config: { deploymentId: 'a' } }))
  vi.stubEnv('NEXT_DEPLOYMENT_ID', own)
  prepareBuild(dir)
  expect(process.env['NEXT_DEPLOYMENT_ID']).toBe('a')
})

it('does nothing in a process that keeps no older builds', async () => {
  delete ofProcess[BUILDS]
  expect((await identify('a', 'a')).lines).toEqual([])
})
