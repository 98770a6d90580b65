import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAllowed, productionDependencies, writeDocuments, type Dependency } from './bill-of-materials.ts'
import { readJson } from './tarball.ts'
import { ROOT } from './workspace-copy.ts'

interface Component {
  name: string
  group?: string
  version: string
  purl: string
  externalReferences?: { type: string; hashes?: { alg: string; content: string }[] }[]
}
interface Bom {
  bomFormat: string
  specVersion: string
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const folder = mkdtempSync(join(tmpdir(), 'bill-of-materials-'))
const manifests = globSync('packages/*/package.json', { cwd: ROOT }).map((path) => readJson(join(ROOT, path)))
const ours = manifests.map(({ name }) => name as string)
const nameOf = ({ group, name }: Component): string => (group ? `${group}/${name}` : name)

let rejected: string[]
let dependencies: Dependency[]
beforeAll(async () => {
  rejected = await writeDocuments(folder)
  dependencies = await productionDependencies()
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('licenses', () => {
  it('each production dependency has an allowed one', () => {
    expect(rejected).toEqual([])
  })

  it('the list names each production dependency', () => {
    const [, , ...rows] = readFileSync(join(folder, 'licenses.md'), 'utf8').trimEnd().split('\n')
    expect(rows.map((row) => row.split('|')[1]!.trim())).toEqual(dependencies.map(({ name }) => name))
    for (const { dependencies: direct = {} } of manifests as { dependencies?: object }[]) {
      const external = Object.keys(direct).filter((name) => !ours.includes(name))
      expect(dependencies.map(({ name }) => name)).toEqual(expect.arrayContaining(external))
    }
  })

  it.each([
    ['MIT', true],
    ['(MIT AND Zlib)', true],
    ['GPL-3.0-only', false],
    ['(MIT AND GPL-3.0-only)', false],
    ['(MIT OR GPL-3.0-only)', false],
    ['Unknown', false],
    ['', false],
  ])('%j: %j', (license, allowed) => {
    expect(isAllowed(license)).toBe(allowed)
  })
})

describe.each(manifests as { name: string; version: string; dependencies?: object }[])(
  'the SBOM of $name',
  ({ name, version, dependencies: direct = {} }) => {
    const read = (): Bom => readJson(join(folder, `${name}-${version}.cdx.json`)) as unknown as Bom

    it('is of this version', () => {
      expect(read()).toMatchObject({
        bomFormat: 'CycloneDX',
        specVersion: '1.6',
        metadata: { component: { type: 'library', name, version, purl: `pkg:npm/${name}@${version}` } },
      })
    })

    it('lists direct dependencies, and none for development', () => {
      const { components, dependencies: edges } = read()
      const own = edges.find(({ ref }) => ref === `pkg:npm/${name}@${version}`)
      const named = components.filter(({ purl }) => own?.dependsOn.includes(purl)).map(nameOf)
      expect(named.toSorted()).toEqual(Object.keys(direct).toSorted())
      const known = new Set([...dependencies.map((one) => one.name), ...ours])
      expect(components.map(nameOf).filter((one) => !known.has(one))).toEqual([])
    })

    it('has the hash of each dependency', () => {
      const components = read().components.filter((one) => !ours.includes(one.name))
      const hashed = components.filter(({ externalReferences = [] }) =>
        externalReferences.some(({ type, hashes }) => type === 'distribution' && hashes?.[0]?.alg === 'SHA-512'),
      )
      expect(hashed.map(nameOf)).toEqual(components.map(nameOf))
    })
  },
)
