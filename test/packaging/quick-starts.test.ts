// The quick start of each package in an empty folder, pasted from its README, with the Nodes that its readers may have.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linesOfCode, NODES, readQuickStart, type QuickStart, outputOf, shell, writeFiles } from './quick-start.ts'
import { demand, readJson, run, Tarball } from './tarball.ts'

const PACKAGES = [
  'aggregator-gateway',
  'clustered-server',
  'fastify-write-batching',
  'next-on-fastify',
  'speed-bounds',
  'trpc-fastify',
]

/** A TypeScript program of a user. */
const consumer = (name: string): string => `import * as all from '${name}'\nexport const names = Object.keys(all)\n`

describe.each(PACKAGES)('the quick start of %s', (name) => {
  const tarball = new Tarball(name)
  const { project } = tarball
  const manifest = readJson(join(tarball.source, 'package.json')) as {
    engines: { node: string }
    peerDependenciesMeta?: Record<string, { optional: boolean }>
  }
  let quickStart: QuickStart

  beforeAll(async () => {
    quickStart = await readQuickStart(readFileSync(join(tarball.source, 'README.md'), 'utf8'))
    const paths = await tarball.pack()
    const install = quickStart.commands[0]!.replace(
      new RegExp(`^(npm install .*)\\b${name}\\b`, 'm'),
      `$1${paths.join(' ')}`,
    )
    await demand(project, shell(install, NODES[24]))
    writeFiles(project, quickStart.files)
  })

  afterAll(() => tarball.remove())

  it('needs at most 15 lines of code', () => {
    expect(linesOfCode(quickStart).length).toBeLessThanOrEqual(15)
  })

  it('installs no optional peer', () => {
    const installed = (peer: string): boolean => existsSync(join(project, 'node_modules', peer))
    expect(installed(name)).toBe(true)
    expect(Object.keys(manifest.peerDependenciesMeta ?? {}).filter(installed)).toEqual([])
  })

  it('says which Node it needs, and with which error an older one fails', async () => {
    expect(quickStart.text).toContain(`Node ${manifest.engines.node.replace('>=', '')} or newer`)
    const [file] = Object.keys(quickStart.files).filter((path) => path.endsWith('.ts'))
    const [command, exitCode] = name === 'speed-bounds' ? [quickStart.commands[1]!, 2] : [`node ${file}`, 1]
    const { code, output } = await run(project, shell(command, NODES[20]))
    const [, error] = /fail with\s+`([^`]+)`/.exec(quickStart.text)!
    expect({ code, output }).toEqual({ code: exitCode, output: expect.stringContaining(error!) })
  })

  it.each(['22', '24'] as const)('prints what the README says on Node %s', async (version) => {
    const output = await outputOf(project, quickStart.commands[1]!, quickStart, NODES[version])
    expect(output).toBe(quickStart.printed)
  })

  it('prints the same as JavaScript', async () => {
    const { files, commands, printed } = quickStart
    for (const [path, code] of Object.entries(files).filter(([file]) => file.endsWith('.ts')))
      writeFileSync(join(project, path.replace('.ts', '.mjs')), code.replaceAll(".ts'", ".mjs'"))
    const output = await outputOf(project, commands[1]!.replaceAll('.ts', '.mjs'), quickStart, NODES[22])
    expect(output).toBe(printed)
  })

  it.runIf(name === 'next-on-fastify')('prints the same in production', async () => {
    const [, build, start] = /^(.*)\n(.*)\n$/.exec(quickStart.commands[2]!)!
    await demand(project, shell(build!, NODES[24]))
    expect(await outputOf(project, start!, quickStart, NODES[24])).toBe(quickStart.printed)
  })

  it.each(['22', '24'] as const)('gives the package to require() and import on Node %s', async (version) => {
    writeFileSync(join(project, 'required.cjs'), `console.log(Object.keys(require('${name}')).length)\n`)
    writeFileSync(
      join(project, 'imported.mjs'),
      `import * as all from '${name}'\nconsole.log(Object.keys(all).length)\n`,
    )
    const { code, output } = await run(project, shell('node required.cjs\nnode imported.mjs', NODES[version]))
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^[1-9]\d*\n[1-9]\d*\n$/) })
  })

  it.each([
    ['nodenext', ['--module', 'nodenext']],
    ['bundler', ['--module', 'preserve', '--moduleResolution', 'bundler']],
  ])('type-checks under moduleResolution %s', async (_, flags) => {
    writeFileSync(join(project, 'consumer.mts'), consumer(name))
    writeFileSync(join(project, 'consumer.cts'), consumer(name))
    const sources = Object.keys(quickStart.files).filter((path) => path.endsWith('.ts') && path !== 'express.ts')
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2024', '--skipLibCheck']
    const types = ['--types', 'node', '--typeRoots', join(import.meta.dirname, '../../node_modules/@types')]
    const files = ['consumer.mts', 'consumer.cts', ...sources]
    expect(await tarball.tsc('--ignoreConfig', ...flags, ...strict, ...types, ...files)).toEqual({
      code: 0,
      stdout: '',
      output: '',
    })
  })
})
