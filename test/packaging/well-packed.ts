// What holds for the tarball of each package.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NODES } from './quick-start.ts'
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

interface Manifest {
  /** Paths of programs by the names of their commands. */
  bin?: Readonly<Record<string, string>>
  engines: { node: string }
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

    it('has commands that tell an older Node which one they need', async () => {
      const manifest = readJson(join(tarball.installed, 'package.json')) as unknown as Manifest
      for (const [command, path] of Object.entries(manifest.bin ?? {})) {
        const required = manifest.engines.node.slice('>='.length)
        expect(await run(tarball.project, [NODES[20], join(tarball.installed, path), '--help'])).toEqual({
          code: 2,
          stdout: '',
          output: expect.stringMatching(
            new RegExp(String.raw`^${command} needs Node ${required} or newer, got 20\.[\d.]+: update Node\.\n$`),
          ),
        })
      }
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
