import { chmodSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { ReleaseLinks } from '../../../src/releases/release-links.ts'
import { fileTree } from '../../helpers/file-tree.ts'

let root = ''
/** Path of the app's module, as Node resolves it. */
let app = ''
const at = (...names: string[]): string => join(root, ...names)

beforeEach(() => {
  root = realpathSync(fileTree({ 'releases/1/server/app.js': '', 'releases/2/server/app.js': '' }))
  app = at('releases/1/server/app.js')
})

/** The app's path by way of the links that are found. */
function found(given: { path?: string; pwd?: string; script?: string } = {}): string {
  const { path = app, pwd, script } = given
  return new ReleaseLinks(path, { ...(pwd !== undefined && { PWD: pwd }) }, script).through(path)
}

it('keeps a path that no link leads to', () => {
  expect(found({ pwd: at('releases/1'), script: app })).toBe(app)
})

it('keeps a path that leads through a link', () => {
  symlinkSync('releases/1', at('live'))
  expect(found({ path: at('live/server/app.js') })).toBe(at('live/server/app.js'))
})

it.each([
  ['$PWD', { pwd: 'live' }],
  ['$PWD with a slash at its end', { pwd: 'live/' }],
  ['$PWD in a folder of the release', { pwd: 'live/server' }],
  ['the path of the script', { script: 'live/server/other.js' }],
])('finds the link in %s', (_, given: { pwd?: string; script?: string }) => {
  symlinkSync('releases/1', at('live'))
  expect(found(Object.fromEntries(Object.entries(given).map(([name, path]) => [name, `${root}/${path}`])))).toBe(
    at('live/server/app.js'),
  )
})

it('ignores a $PWD that leads elsewhere, is relative, or does not exist', () => {
  symlinkSync('releases/2', at('live'))
  symlinkSync('nowhere', at('lost'))
  for (const pwd of [at('live'), 'live', at('lost'), at('none'), '']) expect(found({ pwd })).toBe(app)
})

it('follows a chain of links, and links above the releases', () => {
  symlinkSync('releases/1', at('newest'))
  symlinkSync('newest', at('live'))
  symlinkSync(root, `${root}/above`)
  const pwd = at('above/live')
  expect(found({ pwd })).toBe(at('above/live/server/app.js'))
})

it('uses the link `current` beside the releases where nothing else leads to the app', () => {
  symlinkSync('releases/1', at('current'))
  expect(found()).toBe(at('current/server/app.js'))
  symlinkSync('releases/1', at('live'))
  expect(found({ pwd: at('live') })).toBe(at('live/server/app.js'))
})

it('ignores a link `current` that leads to another release', () => {
  symlinkSync('releases/2', at('current'))
  expect(found()).toBe(app)
})

it.each([0o1777, 0o1775, 0o777])(
  'ignores a link `current` in a directory that others may write to: mode %o',
  (mode) => {
    symlinkSync('releases/1', at('current'))
    chmodSync(root, mode)
    expect(found()).toBe(app)
    // The link that the server was started by was not chosen by others.
    expect(found({ pwd: at('current') })).toBe(at('current/server/app.js'))
  },
)

it('leads other paths of the release through the link too, and leaves all others', () => {
  symlinkSync('releases/1', at('live'))
  mkdirSync(at('releases/10'))
  const links = new ReleaseLinks(at('live/server/app.js'), {}, undefined)
  expect(links.through(at('releases/1/.env'))).toBe(at('live/.env'))
  expect(links.through(at('releases/1'))).toBe(at('live'))
  for (const path of ['/', at('.env'), at('releases/10'), at('live/.env')]) expect(links.through(path)).toBe(path)
})
