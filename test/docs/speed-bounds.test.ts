import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { optionsOf, rowsOf } from './options-table.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const readme = read('packages/speed-bounds/README.md')
const source = read('packages/speed-bounds/src/options/resolve.ts')

const rows = rowsOf(readme)

describe.each(['RaceOptions', 'CaseOptions', 'ClaimOptions', 'FileSubject', 'CommandSubject'])('%s', (name) => {
  it.each(optionsOf(source, name))('$option stands in the README as in its TSDoc', ({ option, meaning, standard }) => {
    expect(rows).toContainEqual([`\`${option}\``, meaning, standard])
  })
})

it('the README has no option that the code does not have', () => {
  const documented = rows.map(([first]) => /^`([a-z]\w*)`$/.exec(first!)?.[1]).filter((name) => name !== undefined)
  const known = [...source.matchAll(/^ {2}(\w+)\??: /gm)].map(([, name]) => name!)
  const verdicts = ['holds', 'broken', 'inconclusive']
  expect(documented.filter((name) => !known.includes(name) && !verdicts.includes(name))).toEqual([])
})
