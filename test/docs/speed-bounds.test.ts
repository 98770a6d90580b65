import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const readme = read('packages/speed-bounds/README.md')
const source = read('packages/speed-bounds/src/options.ts')

/** The options of an interface, as its TSDoc has them. */
function optionsOf(name: string): { option: string; meaning: string; standard: string }[] {
  const body = new RegExp(`export interface ${name}[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(source)![1]!
  return [...body.matchAll(/\/\*\*([\s\S]*?)\*\/\s*(\w+)\??:/g)].map(([, comment, option]) => {
    const [meaning, standard = ''] = comment!
      .replaceAll(/\s*\n\s*\*\s?/g, ' ')
      .trim()
      .split(' @default ')
    return { option: option!, meaning: meaning!, standard }
  })
}

/** The rows of the README's tables, cell by cell. */
const rows = readme
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )

describe.each(['RaceOptions', 'CaseOptions', 'ClaimOptions', 'FileSubject', 'CommandSubject'])('%s', (name) => {
  it.each(optionsOf(name))('$option stands in the README as in its TSDoc', ({ option, meaning, standard }) => {
    expect(rows).toContainEqual([`\`${option}\``, meaning, standard])
  })
})

it('the README has no option that the code does not have', () => {
  const documented = rows.map(([first]) => /^`([a-z]\w*)`$/.exec(first!)?.[1]).filter((name) => name !== undefined)
  const known = [...source.matchAll(/^ {2}(\w+)\??: /gm)].map(([, name]) => name!)
  const verdicts = ['holds', 'broken', 'inconclusive']
  expect(documented.filter((name) => !known.includes(name) && !verdicts.includes(name))).toEqual([])
})
