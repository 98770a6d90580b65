import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { subjectAt } from '../../../src/compare/subject-at-ref.ts'
import type { Subject } from '../../../src/index.ts'

const repository = join(import.meta.dirname, 'repository')
const place = { repository, cwd: join(repository, 'bench') }
const checkout = join(import.meta.dirname, 'checkout')
const at = (subject: Subject): Subject => subjectAt('server', subject, place, checkout)

it.each<[kind: string, subject: Subject]>([
  ['a path', './server.ts'],
  ['a file URL', pathToFileURL(join(repository, 'bench', 'server.ts'))],
  ['an absolute path', join(repository, 'bench', 'server.ts')],
  ['an object', { file: 'server.ts' }],
])('%s is that of the checkout', (_, subject) => {
  expect(at(subject)).toEqual({ file: join(checkout, 'bench', 'server.ts'), cwd: join(checkout, 'bench') })
})

it('a command line runs in the checkout', () => {
  const command = ['./server', '--port', '{port}'] as const
  expect(at({ command, cwd: '..' })).toEqual({ command, cwd: checkout })
})

it.each<[problem: string, subject: Subject, expected: string]>([
  ['a file outside', '../../server.ts', 'a path inside the repository'],
  ['a folder outside', { command: ['node', 'server.js'], cwd: '/' }, 'a path inside the repository'],
  ['an absolute path in a command', { command: ['node', join(repository, 'server.js')] }, 'relative paths within'],
  ['one in the environment', { file: 'a.js', env: { NODE_PATH: join(repository, 'lib') } }, 'relative paths within'],
])('rejects %s, which both refs would share', (_, subject, expected) => {
  expect(() => at(subject)).toThrow(`Invalid option "subjects.server": expected ${expected}`)
})
