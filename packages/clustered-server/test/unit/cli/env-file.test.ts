import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { envFileReader, readEnvFiles } from '../../../src/cli/config/env-file.ts'
import { UsageError } from '../../../src/cli/usage-error.ts'

let folder = ''
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))))
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

it('reads variables in the syntax of node --env-file', () => {
  const path = write('.env', '# secrets\nexport TOKEN=abc # of today\nTEXT="two\nlines"\nEMPTY=\nnonsense\n')
  expect(readEnvFiles([path], {})).toEqual({ TOKEN: 'abc', TEXT: 'two\nlines', EMPTY: '' })
})

it('a later file overrides an earlier one, and the environment overrides both', () => {
  const [one, two] = [write('one', 'A=1\nB=1\nC=1\n'), write('two', 'B=2\nC=2\n')]
  expect(readEnvFiles([one, two], { C: '3' })).toEqual({ A: '1', B: '2' })
})

it('reads the files once for each generation', () => {
  const path = write('.env', 'VERSION=1\n')
  const read = envFileReader([path], {})
  expect(read(1)).toEqual({ VERSION: '1' })
  write('.env', 'VERSION=2\n')
  expect(read(1)).toEqual({ VERSION: '1' })
  expect(read(2)).toEqual({ VERSION: '2' })
  write('.env', 'VERSION=3\n')
  expect(read(2)).toEqual({ VERSION: '2' })
  // Where the second generation failed to start, the first one goes on.
  expect(read(1)).toEqual({ VERSION: '1' })
})

it('leaves PORT and HOST of workers to the server', () => {
  const path = write('.env', 'PORT=1\nHOST=::1\nA=1\n')
  expect(readEnvFiles([path], {})).toEqual({ PORT: '1', HOST: '::1', A: '1' })
  expect(envFileReader([path], {})(1)).toEqual({ A: '1' })
})

it('rejects a missing file in one line, and reads it for the same generation once it is there', () => {
  const path = join(folder, 'missing')
  const read = envFileReader([path], {})
  expect(() => read(1)).toThrow(new UsageError(`cannot read environment file ${path}: ENOENT`))
  write('missing', 'A=1\n')
  expect(read(1)).toEqual({ A: '1' })
})
