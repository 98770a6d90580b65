import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { moduleAdvice } from '../../../src/config/module-advice.ts'

const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-module-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')

/** The message of Node, without the transforms of vitest. */
function messageOf(name: string, source: string): string {
  writeFileSync(join(folder, name), source)
  const url = pathToFileURL(join(folder, name)).href
  const code = `await import(${JSON.stringify(url)}).catch(({ message }) => process.stdout.write(message))`
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).stdout
}

it.each([
  ['exports', 'export default {}'],
  ['imports', `import 'node:fs'`],
])('tells what a module that %s needs, if Node takes it for CommonJS', (name, source) => {
  for (const extension of ['js', 'ts']) {
    const message = messageOf(`${name}.${extension}`, source)
    expect(`${message}${moduleAdvice(message)}`).toMatch(/\w'?\. Set "type": "module" in package\.json\.$/)
  }
})

it('has no advice for another error', () => {
  expect(moduleAdvice(messageOf('broken.js', 'const'))).toBe('')
})
