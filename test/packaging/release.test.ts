// A release: the versions that changesets make, and the tarballs that `pnpm publish` would upload.

import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sizeTable, tooLarge } from './sizes.ts'
import { demand, pnpm, readJson } from './tarball.ts'
import { copyWorkspace, ROOT } from './workspace-copy.ts'

interface Published {
  name: string
  version: string
  size: number
  unpackedSize: number
}

const FIRST = '0.1.0'
const names = globSync('packages/*/package.json', { cwd: ROOT })
  .map((path) => path.split('/')[1]!)
  .toSorted()
const versionsIn = (root: string): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, readJson(join(root, 'packages', name, 'package.json'))['version']]))

/** Publishes as the release script does, without the upload. Versions that the registry has are not left out. */
async function publishDry(root: string, ...flags: string[]): Promise<{ warnings: string; published: Published[] }> {
  const command = [...pnpm(), '-r', 'publish', '--access', 'public', '--dry-run', '--json'] as const
  const { stdout, output } = await demand(root, [...command, '--no-git-checks', '--force', ...flags])
  const published = JSON.parse(stdout) as Published[]
  return {
    warnings: output.replace(stdout, ''),
    published: published.toSorted((one, other) => one.name.localeCompare(other.name)),
  }
}

describe('pnpm publish', () => {
  let warnings: string
  let published: Published[]
  beforeAll(async () => {
    ;({ warnings, published } = await publishDry(ROOT))
  })

  it('would publish each package, and nothing else, without a warning', () => {
    expect(published.map(({ name }) => name)).toEqual(names)
    expect(warnings).toBe('')
  })

  it('would publish no package that has grown by more than 10 %', () => {
    const sizes = Object.fromEntries(
      published.map(({ name, size, unpackedSize }) => [name, { packed: size, unpacked: unpackedSize }]),
    )
    expect(tooLarge(sizes), `The sizes in test/packaging/sizes.ts:\n${sizeTable(sizes)}\n`).toEqual([])
  })
})

describe('after `changeset version`', () => {
  const before = versionsIn(ROOT)
  const copy = mkdtempSync(join(tmpdir(), 'release-'))
  const tarballs = join(copy, 'tarballs')
  // The build is the same.
  const pack = [...pnpm(), 'pack', '--config.ignore-scripts=true', '--pack-destination', tarballs] as const
  beforeAll(async () => {
    copyWorkspace(copy)
    // For the formatter that Changesets runs.
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    await demand(copy, [...pnpm(), 'exec', 'changeset', 'version'])
    mkdirSync(tarballs)
    for (const name of names)
      await demand(join(copy, 'packages', name), ['env', 'GITHUB_REPOSITORY=some/where', ...pack])
  })
  afterAll(() => rmSync(copy, { recursive: true }))

  /** The package.json in each tarball. */
  async function manifests(): Promise<[name: string, manifest: Record<string, unknown>][]> {
    const paths = globSync(join(tarballs, '*.tgz')).toSorted()
    const texts = await Promise.all(paths.map((path) => demand(copy, ['tar', 'xzOf', path, 'package/package.json'])))
    return texts.map(({ stdout }) => {
      const manifest = JSON.parse(stdout) as Record<string, unknown>
      return [manifest['name'] as string, manifest]
    })
  }

  it(`the first version of each package is ${FIRST}`, () => {
    const expected = Object.entries(versionsIn(copy)).map(([name, version]) => [
      name,
      before[name] === '0.0.0' ? FIRST : version,
    ])
    expect(versionsIn(copy)).toEqual(Object.fromEntries(expected))
  })

  it('no changeset is left, and each version has an entry in its changelog', () => {
    expect(globSync('.changeset/*.md', { cwd: copy }).map((path) => basename(path))).toEqual(['README.md'])
    for (const [name, version] of Object.entries(versionsIn(copy))) {
      const changelog = readFileSync(join(copy, 'packages', name, 'CHANGELOG.md'), 'utf8')
      expect(changelog).toContain(`\n## ${version as string}\n`)
    }
  })

  it('pnpm would publish these versions', async () => {
    const { published } = await publishDry(copy, '--ignore-scripts')
    expect(Object.fromEntries(published.map(({ name, version }) => [name, version]))).toEqual(versionsIn(copy))
  })

  it('packages depend on each other by version', async () => {
    const versions = versionsIn(copy)
    for (const [name, manifest] of await manifests()) {
      expect(manifest['version']).toBe(versions[name])
      const dependencies = (manifest['dependencies'] ?? {}) as Record<string, string>
      const wrong = Object.entries(dependencies).filter(([dependency, range]) => {
        const version = versions[dependency] as string | undefined
        return version ? !['^', '~', ''].some((prefix) => range === prefix + version) : !/^[\^~]?\d/.test(range)
      })
      expect(wrong).toEqual([])
    }
  })

  it('each package is public and wants provenance', async () => {
    for (const [, manifest] of await manifests())
      expect(manifest['publishConfig']).toMatchObject({ access: 'public', provenance: true })
  })

  it('each package names its folder in the repository that publishes it', async () => {
    for (const [name, manifest] of await manifests()) {
      expect(manifest).toMatchObject({
        homepage: `https://github.com/some/where/tree/main/packages/${name}#readme`,
        bugs: 'https://github.com/some/where/issues',
        repository: {
          type: 'git',
          url: 'git+https://github.com/some/where.git',
          directory: `packages/${name}`,
        },
      })
    }
  })
})
