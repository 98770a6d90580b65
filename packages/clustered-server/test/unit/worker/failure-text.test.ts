import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { failureText } from '../../../src/worker/failure-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'failure-text-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = promisify(execFile)

/** What Node throws for a module with this code. It loads it in a process of its own, without the loader of vitest. */
async function errorOf(name: string, code: string): Promise<Error> {
  const url = urlOf(name)
  writeFileSync(new URL(url), code)
  const load = `import(${JSON.stringify(url)}).catch(({ name, stack }) => console.log(JSON.stringify({ name, stack })))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', load])
  return Object.assign(new Error(), JSON.parse(stdout))
}

const urlOf = (name: string): string => pathToFileURL(join(folder, name)).href

describe('the text of an error of an app', () => {
  it('begins with the error, followed by the place of a syntax error', async () => {
    const text = failureText(await errorOf('syntax.ts', 'const a = 1\nexport default () => a b\n'))
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/^SyntaxError \[ERR_INVALID_TYPESCRIPT_SYNTAX\]: Expected /),
      `    at ${join(folder, 'syntax.ts')}:2`,
    ])
  })

  it('has frames of the app, and none of Node', async () => {
    const text = failureText(await errorOf('throws.mjs', "await 1\nthrow new RangeError('two\\nlines')\n"))
    expect(text).toBe(`RangeError: two\nlines\n    at ${urlOf('throws.mjs')}:2:7`)
  })

  it('is one line for a package that is not installed', async () => {
    const text = failureText(await errorOf('missing.mjs', "import 'not-installed'\n"))
    expect(text).toMatch(/^Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find package 'not-installed' imported from .*$/)
  })

  it('has no frames of this package', () => {
    const own = new URL('../../../src/app/import-app.ts', import.meta.url).href
    const stack = `Error: broken\n    at app (/srv/app.js:1:7)\n    at async importApp (${own}:11:20)\n    at new Promise (<anonymous>)`
    expect(failureText(Object.assign(new Error('broken'), { stack }))).toBe(
      'Error: broken\n    at app (/srv/app.js:1:7)',
    )
  })

  it('has the message of an error without a stack', () => {
    expect(failureText(Object.assign(new Error('broken'), { stack: undefined }))).toBe('Error: broken')
  })
})
