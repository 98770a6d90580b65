import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

const script = fileURLToPath(new URL('regular-expressions.ts', import.meta.url))

/** What the lint says of sources, without what it says of its list of allowed ones. */
async function reportOf(sources: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, source] of Object.entries(sources)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), source)
  }
  const { stderr } = await promisify(execFile)(process.execPath, [script, folder]).catch(
    (error: { stderr: string }) => error,
  )
  return stderr.split('\n').filter((line) => line !== '' && !line.endsWith('is allowed without need'))
}

it('reports expressions that take more than linear time, wherever they stand in a source', async () => {
  const source = `
    import type { A } from './a.ts'
    export const list = (value: string): string[] => value.split(/\\s*,\\s*/)
    export const fine = /^[a-z]+$/
    export class B { readonly #name = new RegExp('^(a+)+$'); c(): A { return /x/ as never as A } }
  `
  expect(await reportOf({ 'a/src/deep/b.ts': source })).toEqual([
    expect.stringMatching(/^a\/src\/deep\/b\.ts:3: \/\\s\*,\\s\*\/ takes 2nd degree polynomial time, such as for /),
    expect.stringMatching(/^a\/src\/deep\/b\.ts:5: new RegExp\('\^\(a\+\)\+\$'\) takes exponential time, such as for /),
  ])
})

it('reports expressions that are made while the program runs', async () => {
  const source = 'export const of = (name: string): RegExp => new RegExp(`^${name}`)\nexport const also = RegExp\n'
  expect(await reportOf({ 'a/src/b.ts': source })).toEqual([
    'a/src/b.ts:1: new RegExp(`^${name}`) is made while the program runs',
  ])
})

it('looks at sources, and not at tests', async () => {
  const sources = { 'a/src/b.ts': 'export const fine = /^a$/\n', 'a/test/b.ts': 'export const bad = /(a+)+$/\n' }
  expect(await reportOf(sources)).toEqual([])
})

it('fails when there is nothing to look at', async () => {
  expect((await reportOf({ 'a/src/b.ts': '' })).join('\n')).toContain('There are no regular expressions below')
})
