import { realpathSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { resolveRelease } from '../../../src/releases/release.ts'
import { Releases } from '../../../src/releases/releases.ts'
import { fileTree } from '../../helpers/file-tree.ts'

const SHA = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'
const urlOf = (path: string): string => pathToFileURL(path).href

/** The version of an app in a folder with these files. */
function versionOf(files: Readonly<Record<string, string>>, app: string): object {
  const root = realpathSync(fileTree({ ...files, [app]: '' }))
  const { version, revision } = resolveRelease({ app: urlOf(join(root, app)), cwd: root })
  return { version, revision }
}

it.each([
  [
    'the closest package.json with a version',
    { 'package.json': '{"version":"2.0.0"}', 'dist/package.json': '{"type":"commonjs"}' },
    '2.0.0',
  ],
  ['no package.json', { 'package.json': '{' }, undefined],
  ['a version that is none', { 'package.json': '{"version":"1.0.0\\nforged line"}' }, undefined],
])('reads the version of %s', (_, files: Record<string, string>, version) => {
  expect(versionOf({ ...files, 'src/package.json': '[]' }, 'dist/app.js')).toMatchObject({ version })
})

it.each([
  ['a commit', `${SHA}\n`, SHA],
  ['a short commit', 'a1b2c3d', 'a1b2c3d'],
  ['other text', 'main\n', undefined],
  ['several lines', `${SHA}\n${SHA}\n`, undefined],
])('reads the revision of a file REVISION with %s', (_, text, revision) => {
  expect(versionOf({ REVISION: text, 'package.json': '{"version":"1.0.0"}' }, 'dist/app.js')).toMatchObject({
    revision,
  })
})

it('ignores a file REVISION above the package', () => {
  const files = { REVISION: SHA, 'api/package.json': '{"version":"1.0.0"}' }
  expect(versionOf(files, 'api/app.js')).toEqual({ version: '1.0.0', revision: undefined })
})

it('reads the revision at the root of the release that a link leads to', () => {
  const files = {
    'releases/1/REVISION': SHA,
    'releases/1/api/package.json': '{"version":"1.0.0"}',
    'releases/1/api/app.js': '',
  }
  const root = realpathSync(fileTree(files))
  symlinkSync('releases/1', join(root, 'current'))
  const release = resolveRelease({ app: urlOf(join(root, 'current/api/app.js')), cwd: join(root, 'current') })
  expect(release).toEqual({
    app: urlOf(join(root, 'releases/1/api/app.js')),
    path: join(root, 'releases/1/api/app.js'),
    cwd: join(root, 'releases/1'),
    version: '1.0.0',
    revision: SHA,
  })
})

it('keeps the query of the URL', () => {
  const root = realpathSync(fileTree({ 'app.js': '' }))
  const app = `${urlOf(join(root, 'app.js'))}?variant=1#part`
  expect(resolveRelease({ app, cwd: root }).app).toBe(app)
})

it('uses the directory of the app where the working directory is gone', () => {
  const root = realpathSync(fileTree({ 'app/app.js': '' }))
  const app = urlOf(join(root, 'app/app.js'))
  for (const cwd of [join(root, 'none'), undefined]) expect(resolveRelease({ app, cwd }).cwd).toBe(join(root, 'app'))
  rmSync(join(root, 'app'), { recursive: true })
  expect(resolveRelease({ app, cwd: undefined })).toMatchObject({ app, cwd: '/' })
})

it('all workers of a generation have the same release, unless it is deleted', () => {
  const root = realpathSync(fileTree({ 'releases/1/app.js': '', 'releases/2/app.js': '' }))
  const link = (release: number): void => symlinkSync(`releases/${release}`, join(root, 'current'))
  link(1)
  const warnings: string[] = []
  const logger = { info: () => {}, error: () => {}, warn: (_: object, text: string) => void warnings.push(text) }
  const releases = new Releases({ app: urlOf(join(root, 'current/app.js')), cwd: root }, logger)
  const [one, two] = [1, 2].map((release) => join(root, `releases/${release}/app.js`))
  expect(releases.of(1).path).toBe(one)
  unlinkSync(join(root, 'current'))
  link(2)
  expect([releases.of(1).path, releases.of(2).path, releases.of(1).path]).toEqual([one, two, one])
  expect(warnings).toEqual([])
  rmSync(join(root, 'releases/1'), { recursive: true })
  expect([releases.of(1).path, releases.of(1).path]).toEqual([two, two])
  expect(warnings).toEqual([`${one} was deleted: workers start from ${two}`])
  releases.forgetBefore(2)
  expect(releases.of(2).path).toBe(two)
})
