import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../../src/config/read-config.ts'
import { defineConfig } from '../../../src/index.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'speed-bounds-config-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
const CONFIG = { subjects: { server: './server.js' }, path: '/', claims: [{ over: 'other', atLeast: 1.2 }] }

it.each([
  ['ts', `export default ${JSON.stringify(CONFIG)} satisfies object`],
  ['mjs', `export default ${JSON.stringify(CONFIG)}`],
  ['json', JSON.stringify(CONFIG)],
])('reads speed-bounds.config.%s', async (extension, text) => {
  write(`speed-bounds.config.${extension}`, text)
  expect(await readConfig(undefined, folder)).toEqual({
    subjects: CONFIG.subjects,
    claims: CONFIG.claims,
    install: undefined,
    build: undefined,
    raceOptions: { path: '/', cwd: folder },
    directory: folder,
  })
})

it('takes relative paths from the folder of a file that --config names', async () => {
  write('other.json', JSON.stringify({ ...CONFIG, cwd: 'servers' }))
  const { raceOptions, directory } = await readConfig(join(folder, 'other.json'), '/')
  expect([raceOptions.cwd, directory]).toEqual([join(folder, 'servers'), folder])
})

it.each<[problem: string, files: Record<string, string>, message: RegExp]>([
  ['no file', {}, /^Found no speed-bounds\.config\.ts in this folder \(nor \.js, \.mjs, \.json\): create it, or name/],
  [
    'two files',
    { 'speed-bounds.config.js': '', 'speed-bounds.config.json': '{}' },
    /^Found speed-bounds\.config\.js and speed-bounds\.config\.json: keep one/,
  ],
  ['JSON that is cut off', { 'speed-bounds.config.json': '{"subjects":' }, /^Cannot load speed-bounds\.config\.json: /],
  ['a file that throws', { 'speed-bounds.config.mjs': 'throw new Error("no\\nluck")' }, /^Cannot load .*\.mjs: no$/],
  ['no default export', { 'speed-bounds.config.mjs': 'export const a = 1' }, /it has no default export/],
])('rejects %s with one line', async (_, files, message) => {
  for (const [name, text] of Object.entries(files)) write(name, text)
  const error = (await readConfig(undefined, folder).catch((reason: unknown) => reason)) as Error
  expect(error).toMatchObject({ code: 'SPEED_BOUNDS_CONFIG_NOT_LOADED' })
  expect(error.message).toMatch(message)
  expect(error.message).not.toContain('\n')
})

it.each<[problem: string, config: unknown, message: string]>([
  ['an array', [], 'Invalid option "the default export of the configuration": expected an object, got an empty array.'],
  [
    'no subjects',
    { path: '/' },
    'Invalid option "subjects": expected an object with at least one subject by name, got undefined.',
  ],
  [
    'claims that are no array',
    { ...CONFIG, claims: {} },
    'Invalid option "claims": expected an array, each item an object, got an object.',
  ],
  [
    'a claim over no subject',
    { ...CONFIG, claims: [{ atLeast: 1 }] },
    'Invalid option "claims[0].over": expected the name of a subject, got undefined.',
  ],
  [
    'a claim without a bound',
    { ...CONFIG, claims: [...CONFIG.claims, { over: 'other' }] },
    'Invalid option "claims[1].atLeast": expected a number above 0, got undefined.',
  ],
  ['an empty build command', { ...CONFIG, build: '' }, 'Invalid option "build": expected a command line, got "".'],
  [
    'an install that is true',
    { ...CONFIG, install: true },
    'Invalid option "install": expected a command line or false, got true.',
  ],
  ['a misspelt option', { ...CONFIG, cliams: [] }, 'Invalid option "cliams": unknown. Did you mean "claims"?'],
  [
    'a misspelt option of the race',
    { ...CONFIG, conections: 5 },
    'Invalid option "conections": unknown. Did you mean "connections"?',
  ],
  ['an old name', { ...CONFIG, warmUp: 5 }, 'Invalid option "warmUp": renamed to "measurement.maxWarmUp".'],
  ['a cwd that is no path', { ...CONFIG, cwd: 5 }, 'Invalid option "cwd": expected a path, got 5.'],
])('rejects %s', async (_, config, message) => {
  write('speed-bounds.config.json', JSON.stringify(config))
  await expect(readConfig(undefined, folder)).rejects.toMatchObject({ code: 'SPEED_BOUNDS_INVALID_OPTION', message })
})

it('defineConfig returns the configuration unchanged', () => {
  expect(defineConfig(CONFIG)).toBe(CONFIG)
})
