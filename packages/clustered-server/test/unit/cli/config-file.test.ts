import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findConfig, isConfigFile, loadConfig } from '../../../src/cli/config/config-file.ts'
import { UsageError } from '../../../src/cli/usage-error.ts'

const NAMES = ['clustered-server.config', 'ecosystem.config']

let folder = ''
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))))
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

it.each([
  ['clustered-server.config.mjs', "export default { app: 'a.js' }"],
  ['clustered-server.config.js', "module.exports = { app: 'a.js' }"],
  ['clustered-server.config.cjs', "module.exports = { app: 'a.js' }"],
  ['clustered-server.config.ts', "const config: { app: string } = { app: 'a.js' }\nexport default config"],
  ['clustered-server.config.json', '{ "app": "a.js" }'],
  ['ecosystem.config.js', "module.exports = { app: 'a.js' }"],
])('finds and loads %s', async (name, text) => {
  const path = write(name, text)
  expect(findConfig(folder, NAMES)).toBe(path)
  expect(await loadConfig(path)).toEqual({ path, value: { app: 'a.js' } })
})

it('finds nothing in a directory without one', () => {
  expect(findConfig(folder, NAMES)).toBeUndefined()
})

it('finds the file of this package before that of PM2', () => {
  write('ecosystem.config.js', '')
  const path = write('clustered-server.config.json', '{}')
  expect(findConfig(folder, NAMES)).toBe(path)
})

it('finds only files of the names that it is given', () => {
  write('ecosystem.config.js', '')
  expect(findConfig(folder, ['clustered-server.config'])).toBeUndefined()
})

it('rejects two files of a kind', () => {
  write('clustered-server.config.json', '{}')
  write('clustered-server.config.ts', '')
  expect(() => findConfig(folder, NAMES)).toThrow(
    'found clustered-server.config.ts and clustered-server.config.json: keep one, or choose it by --config',
  )
})

it.each([
  ['broken.config.json', '{ app }', /^cannot load .*broken\.config\.json: .*JSON/],
  [
    'thrown.config.mjs',
    "throw new Error('no database\\nsecond line')",
    /^cannot load .*thrown\.config\.mjs: no database$/,
  ],
  ['syntax.config.mjs', 'export default {', /^cannot load .*syntax\.config\.mjs: [^\n]+$/],
  ['process.yml', 'apps: []', /^cannot load .*process\.yml: YAML is not supported, write it as JSON or as a module$/],
  ['empty.config.mjs', 'export const a = 1', /^cannot load .*empty\.config\.mjs: it has no default export$/],
])('rejects %s in one line', async (name, text, message) => {
  const loading = loadConfig(write(name, text))
  await expect(loading).rejects.toThrow(UsageError)
  await expect(loading).rejects.toThrow(message)
})

it('rejects a file that does not exist, and a directory', async () => {
  const path = join(folder, 'none.json')
  await expect(loadConfig(path)).rejects.toThrow(new UsageError(`there is no file ${path}`))
  mkdirSync(join(folder, 'some.json'))
  await expect(loadConfig(join(folder, 'some.json'))).rejects.toThrow('EISDIR')
})

it.each([
  ['ecosystem.config.js', true],
  ['/srv/app/ecosystem.config.cjs', true],
  ['deploy/api.ecosystem.config.json', true],
  ['pm2.config.js', true],
  ['clustered-server.config.ts', true],
  ['processes.json', true],
  ['deploy/shop.config.cjs', true],
  ['shop.config.mjs', true],
  ['process.yml', true],
  ['process.yaml', true],
  ['app.js', false],
  ['config.js', false],
  ['ecosystem.ts', false],
  ['shop.config.ts', false],
  ['processes.cjs', false],
])('%s is a configuration file: %s', (path, expected) => {
  expect(isConfigFile(path)).toBe(expected)
})
