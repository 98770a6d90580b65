import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { llmsTxt } from './llms-txt.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const text = readFileSync(join(root, 'llms.txt'), 'utf8').replaceAll('\r\n', '\n')
const links = [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, path]) => path!)

it('is up to date', () => {
  expect(text, 'Run `npx -y pnpm@12 exec node test/docs/llms-txt.ts`').toBe(llmsTxt())
})

it('has the form of llmstxt.org: a title, a summary, and sections of links', () => {
  expect(text).toMatch(/^# [^\n]+\n\n> [^\n]+\n(?:\n## [^\n]+\n\n(?:- \[[^\]\n]+\]\([^)\s]+\)(?:: [^\n]+)?\n)+)+$/)
})

it('links to each package, and to pages that exist', () => {
  expect(links).toEqual(expect.arrayContaining(globSync('packages/*/README.md', { cwd: root })))
  expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

it('takes the first sentence below the heading as plain text', () => {
  const folder = mkdtempSync(join(tmpdir(), 'llms-txt-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const pages = {
    'README.md': '# All\n\nSeveral [packages](packages),\nand **tests**. Two sentences.\n\n## Next\n',
    'packages/one/README.md': '# one\n\nNode.js: `a`\nand `b`. More.\n',
    'packages/one/docs/deep/limits.md': '# Limits\n\n## None\n\nText.\n',
    'docs/table.md': '# Table\n\n| a | b |\n',
    '.github/CONTRIBUTING.md': '# Contributing\n\nRun this:\n\n```sh\nls\n```\n',
    'SECURITY.md': '# Security\n\n```sh\nls\n```\n',
  }
  for (const [path, content] of Object.entries(pages)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  expect(llmsTxt(folder).split('\n').filter(Boolean)).toEqual([
    '# All',
    '> Several packages, and tests. Two sentences.',
    '## Packages',
    '- [one](packages/one/README.md): Node.js: `a` and `b`.',
    '## Documentation',
    '- [Table](docs/table.md)',
    '- [one: Limits](packages/one/docs/deep/limits.md)',
    '## Examples',
    '## Optional',
    '- [Contributing](.github/CONTRIBUTING.md): Run this.',
    '- [Security](SECURITY.md)',
  ])
})
