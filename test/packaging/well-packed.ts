// What holds for the tarball of each package.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJson, type Tarball } from './tarball.ts'

interface Packed {
  /** Files that other packages have not. */
  beside?: readonly string[]
  dependencies: readonly string[]
}

/** Registers the tests; the tarball is to be installed before. */
export function isWellPacked(tarball: Tarball, { beside = [], dependencies }: Packed): void {
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
  })
}
