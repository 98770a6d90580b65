// What holds for the errors of each package that makes them by @fastify/error, in its `errors.ts`.

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Registers the tests of a package; `atStart` are the codes thrown by what these files export. */
export function hasCodedErrors(name: string, atStart: Readonly<Record<string, readonly string[]>>): void {
  const src = new URL(`../../packages/${name}/src/`, import.meta.url)
  const sources = new Map(
    readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => [path, readFileSync(new URL(path.replaceAll('\\', '/'), src), 'utf8')]),
  )
  const errors = sources.get('errors.ts')!
  const made = [...errors.matchAll(/export const (\w+): [^=]*=\s*createError\(\s*'(\w+)'/g)]

  describe('each error', () => {
    it('has a code of its own, which its type tells too', () => {
      expect(made.length).toBeGreaterThan(1)
      expect(new Set(made.map(([, , code]) => code))).toHaveProperty('size', made.length)
      for (const [text, , code] of made) expect(text).toContain(`code: '${code}'`)
      expect([...errors.matchAll(/createError\(/g)]).toHaveLength(made.length)
    })

    it('is thrown somewhere', () => {
      const thrown = [...sources].flatMap(([path, source]) =>
        path === 'errors.ts' ? [] : [...source.matchAll(/new (\w+Error)\(/g)].map(([, error]) => error),
      )
      for (const [, error] of made) expect(thrown).toContain(error)
    })

    it.each(Object.entries(atStart))('that %s throws is documented there', (path, codes) => {
      const [documented] = /@throws [^@]*/.exec(sources.get(path)!)!
      expect(documented.match(/[A-Z]+_[A-Z_]+/g)).toEqual(codes)
    })
  })
}
