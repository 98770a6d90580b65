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

describe('each error', () => {
  const errors = sources.get('errors.ts')!
  const made = [...errors.matchAll(/export const (\w+): [^=]*=\s*createError\(\s*'(\w+)'/g)]

  it('has a code of its own, which its type tells too', () => {
    expect(made.length).toBeGreaterThan(1)
    expect(sortedUnique(made.map(([, , code]) => code!))).toHaveLength(made.length)
    for (const [text, , code] of made) expect(text).toContain(`code: '${code}'`)
    expect([...errors.matchAll(/createError\(/g)]).toHaveLength(made.length)
  })

  it('is thrown somewhere', () => {
    const thrown = [...sources].flatMap(([path, source]) =>
      path === 'errors.ts' ? [] : [...source.matchAll(/new (\w+Error)\(/g)].map(([, name]) => name!),
    )
    expect(sortedUnique(thrown)).toEqual(expect.arrayContaining(made.map(([, name]) => name!)))
  })

  it('of the start is documented where it is thrown', () => {
    // That one is answered, and not thrown.
    const thrown = made.map(([, , code]) => code!).filter((code) => code !== 'NEXT_ON_FASTIFY_BODY_READ')
    for (const path of ['next-plugin.ts', 'create-next-on-fastify.ts']) {
      const [documented] = /@throws [^@]*/.exec(sources.get(path)!)!
      expect(documented.match(/NEXT_ON_FASTIFY_\w+/g)).toEqual(thrown)
    }
  })
})
