import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errorCodes, SpeedBoundsError } from '../../src/index.ts'

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

  it('is a key of errorCodes, whose class makes errors with that code', () => {
    expect(Object.keys(errorCodes).toSorted()).toEqual(declared)
    for (const [code, ErrorWithCode] of Object.entries(errorCodes)) {
      const cause = new Error('cause')
      const error = new ErrorWithCode('a message', { cause })
      expect(error).toBeInstanceOf(SpeedBoundsError)
      expect(error).toMatchObject({ name: 'SpeedBoundsError', code, message: 'a message', cause })
    }
  })

  it('is thrown somewhere', () => {
    const thrown = [...sources].flatMap(([path, source]) =>
      path === 'errors.ts' ? [] : [...source.matchAll(/new errorCodes\.(\w+)\(/g)].map(([, code]) => code!),
    )
    expect(sortedUnique(thrown)).toEqual(declared)
  })

  it('has a row in docs/troubleshooting.md, and each row has a code', () => {
    const page = readFileSync(new URL('docs/troubleshooting.md', PACKAGE), 'utf8')
    const rows = [...page.matchAll(/^\| *`(SPEED_BOUNDS_\w+)` *\|(.+)\|/gm)]
    expect(rows.map(([, code]) => code!).toSorted()).toEqual(declared)
    expect(rows.filter(([, , text]) => text!.replaceAll('|', '').trim() === '')).toEqual([])
  })
})
