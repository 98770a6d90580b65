import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A class with more of them has two responsibilities. oxlint has no rule for it. */
const MAX_PRIVATE_FIELDS = 12

/** The classes of a source with the number of their private fields. Sources are formatted, so a class ends at a `}` in column 0. */
function privateFields(source: string): { name: string; count: number }[] {
  return [...source.matchAll(/^(?:export )?(?:default )?(?:abstract )?class (\w+)[^{]*\{\n([\s\S]*?)^\}/gm)].map(
    ([, name, body]) => ({
      name: name!,
      count: [
        ...body!.matchAll(
          /^ {2}(?:static |readonly |declare |accessor )*(?:#\w+|private (?:readonly )?\w+)[!?]?(?:: | = |;|$)/gm,
        ),
      ].length,
    }),
  )
}

it(`no class has more than ${MAX_PRIVATE_FIELDS} private fields`, () => {
  const large = globSync('packages/*/src/**/*.ts', { cwd: root }).flatMap((path) =>
    privateFields(readFileSync(`${root}${path}`, 'utf8'))
      .filter(({ count }) => count > MAX_PRIVATE_FIELDS)
      .map(({ name, count }) => `${path}: ${name} has ${count}`),
  )
  expect(large).toEqual([])
})

it('counts fields and no methods', () => {
  const source =
    'export class A extends B<C> {\n  #one = 1\n  readonly #two: number\n  static #three?: string\n  #run(): void {\n  }\n  get #four(): number {\n    const #x = 1\n  }\n}\n'
  expect(privateFields(source)).toEqual([{ name: 'A', count: 3 }])
})
