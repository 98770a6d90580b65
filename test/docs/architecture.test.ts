import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const sections = readFileSync(`${root}docs/architecture.md`, 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ name: section.split('\n', 1)[0]!, text: section }))

it('the architecture has a section for each package', () => {
  const packages = globSync('packages/*/src', { cwd: root }).map((path) => path.split('/')[1]!)
  expect(sections.map(({ name }) => name).toSorted()).toEqual(packages.toSorted())
})

describe.each(sections)('the architecture of $name', ({ name, text }) => {
  const sources = globSync('**/*.ts', { cwd: `${root}packages/${name}/src`, exclude: ['**/*.d.ts'] }).toSorted()
  const named = [...new Set([...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path]) => path!))].toSorted()

  it('names each source file, and no other', () => {
    expect(named).toEqual(sources)
  })

  it('has whole rows in its tables, each once', () => {
    const rows = text.split('\n').filter((line) => /^\| (?!-)/.test(line))
    const isWhole = (row: string): boolean => [3, 6].includes(row.split(/(?<!\\)\|/).length - 1)
    expect(rows.filter((row) => !isWhole(row))).toEqual([])
    expect(rows.filter((row, index) => rows.indexOf(row) !== index)).toEqual([])
  })
})
