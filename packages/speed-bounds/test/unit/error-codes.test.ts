import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const PACKAGE = new URL('../../', import.meta.url)

/** The sources by path within src. */
const sources = new Map(
  readdirSync(new URL('src', PACKAGE), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, readFileSync(new URL(`src/${path.replaceAll('\\', '/')}`, PACKAGE), 'utf8')]),
)

const sortedUnique = (names: Iterable<string>): string[] => [...new Set(names)].toSorted()

describe('each error code', () => {
  const errors = sources.get('errors.ts')!
  const union = /export type SpeedBoundsErrorCode =\n((?:\s*\| '\w+'\n)+)/.exec(errors)![1]!
  const declared = sortedUnique([...union.matchAll(/'(\w+)'/g)].map(([, code]) => code!))

  it('is declared once', () => {
    expect(declared.length).toBeGreaterThan(5)
    expect(union.match(/'\w+'/g)).toHaveLength(declared.length)
  })

  it('is thrown somewhere, and each that is thrown is declared', () => {
    const thrown = [...sources].flatMap(([path, source]) =>
      path === 'errors.ts' ? [] : [...source.matchAll(/new SpeedBoundsError\(\s*'(\w+)'/g)].map(([, code]) => code!),
    )
    expect(sortedUnique(thrown)).toEqual(declared)
  })

  it('is never made of anything but a literal, which the test above would not see', () => {
    const made = [...sources.values()].flatMap((source) => source.match(/new SpeedBoundsError\(\s*./g) ?? [])
    expect(made.length).toBeGreaterThan(declared.length)
    expect(made.filter((start) => !start.endsWith("'"))).toEqual([])
  })

  it('has a row in the README, and each row is of a code', () => {
    const readme = readFileSync(new URL('README.md', PACKAGE), 'utf8')
    const rows = [...readme.matchAll(/^\| *`(SPEED_BOUNDS_\w+)` *\|(.+)\|/gm)]
    expect(rows.map(([, code]) => code!).toSorted()).toEqual(declared)
    expect(rows.filter(([, , text]) => text!.replaceAll('|', '').trim() === '')).toEqual([])
  })
})
