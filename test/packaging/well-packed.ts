// What holds for the tarball of each package.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJson, run, type Tarball } from './tarball.ts'

interface Packed {
  /** Files that other packages have not. */
  beside?: readonly string[]
  dependencies: readonly string[]
  /** What `import` and `require()` of its name give, in the order of the alphabet. */
  values: readonly string[]
  /** The types beside them. */
  types: readonly string[]
}

/** Registers the tests; the tarball is to be installed before. */
export function isWellPacked(tarball: Tarball, { beside = [], dependencies, values, types }: Packed): void {
  describe('the tarball', () => {
    it('has nothing that publint objects to', async () => {
      expect(await tarball.publint()).toMatchObject({ code: 0 })
    })

    it('has types that resolve from ES modules and from CommonJS', async () => {
      expect(await tarball.attw()).toMatchObject({ code: 0 })
    })

    it('has the build of every source and nothing else', () => {
      expect(tarball.files).toEqual([...tarball.built, 'LICENSE', 'README.md', 'package.json', ...beside].toSorted())
    })

    it('has no address of this workspace in its package.json, and the dependencies that it needs', () => {
      const manifest = readJson(join(tarball.installed, 'package.json'))
      expect(JSON.stringify(manifest)).not.toMatch(/catalog:|workspace:/)
      // A list of side effects cannot differ between the workspace and the tarball: it names both.
      expect(JSON.stringify({ ...manifest, sideEffects: undefined })).not.toContain('src/')
      expect(Object.keys(manifest['dependencies'] ?? {})).toEqual(dependencies)
    })

    it.each([
      [
        'require()',
        'commonjs',
        // Node adds `__esModule` to what has a default export.
        `console.log(Object.keys(require('${tarball.name}')).filter((name) => name !== '__esModule').toSorted())`,
      ],
      ['import', 'commonjs', `import('${tarball.name}').then((all) => console.log(Object.keys(all)))`],
      ['a static import', 'module', `import * as all from '${tarball.name}'; console.log(Object.keys(all))`],
    ])('gives its values by %s', async (_, type, program) => {
      const { code, output } = await run(tarball.project, [process.execPath, `--input-type=${type}`, '-e', program])
      // No warning either.
      expect({ code, names: [...output.matchAll(/'(\w+)'/g)].map(([, name]) => name) }).toEqual({
        code: 0,
        names: values,
      })
      expect(output.replaceAll(/'\w+'|[\s[\],]/g, '')).toBe('')
    })

    it('has these types', () => {
      const index = readFileSync(join(tarball.installed, 'dist/index.d.ts'), 'utf8')
      const lists = [...index.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, all = '', list]) =>
        [...list!.matchAll(/(?:type )?\w+/g)].map(([item]) => all + item),
      )
      const exported = lists.filter((item) => item.startsWith('type ')).map((item) => item.replaceAll('type ', ''))
      expect(exported.toSorted()).toEqual(types)
    })
  })
}
