import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const HOOK = '.githooks/commit-msg'
const folder = mkdtempSync(join(tmpdir(), 'commit-titles-'))
afterAll(() => rmSync(folder, { recursive: true }))

function check(...messages: string[]): { code: number | null; text: string } {
  const files = messages.map((message, index) => {
    const file = join(folder, String(index))
    writeFileSync(file, message)
    return file
  })
  const { status, stderr } = spawnSync(process.execPath, [join(root, HOOK), ...files], { encoding: 'utf8' })
  return { code: status, text: stderr }
}

describe('the commit-msg hook', () => {
  it.each([
    'fix(trpc-fastify): respond 413 before parsing\n',
    'feat!: drop Node 20\n\nThe why.\n',
    `docs: ${'x'.repeat(66)}`,
    'fixup! fix: anything',
  ])('accepts %j', (message) => {
    expect(check(message)).toEqual({ code: 0, text: '' })
  })

  it('checks each of several messages', () => {
    expect(check('fix: this', 'Fixed a bug', 'docs: that').code).toBe(1)
  })

  it.each([
    [`docs: ${'x'.repeat(67)}`, 'the title has 73 characters, expected at most 72'],
    ['Fixed a bug', 'expected a title such as'],
    ['wip: anything', 'expected a title such as'],
    ['fix: this; docs: that', 'joins changes by ";"'],
    ['fix: this.', 'ends with a period'],
    ['fix: this\nand that', 'the second line is not empty'],
    ['', 'expected a title such as'],
  ])('refuses %j in one line', (message, problem) => {
    const { code, text } = check(message)
    expect([code, text.trimEnd().split('\n')]).toEqual([1, [expect.stringContaining(problem)]])
  })
})

it('all commits since the hook came pass it', ({ skip }) => {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const added = git('log', '--diff-filter=A', '--format=%H', '--', HOOK).split('\n').at(-1)
  if (!added || git('rev-parse', '--is-shallow-repository') === 'true') skip('the history is not there')
  const titles = git('log', '--no-merges', '--format=%s', `${added}..HEAD`).split('\n').filter(Boolean)
  expect(check(...titles)).toEqual({ code: 0, text: '' })
})
