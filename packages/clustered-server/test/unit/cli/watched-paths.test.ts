import { describe, expect, it } from 'vitest'
import { isWatched, outDirIn, type WatchedFiles } from '../../../src/cli/watch/watched-paths.ts'

const watched: WatchedFiles = {
  ...{ root: '/app', paths: ['/app'], always: ['/app/.env'], allFiles: false },
  ignore: ['dist', './src/generated/', 'logs/*.json', '**/fixtures'],
}

describe('watched files', () => {
  it.each([
    ['/app/server.ts', true],
    ['/app/src/routes/users.mjs', true],
    ['/app/package.json', true],
    ['/app/.env', true],
    ['/app/.env.local', false],
    ['/app/app.log', false],
    ['/app/node_modules/a/index.js', false],
    ['/app/src/node_modules/a/index.js', false],
    ['/app/.git/hooks/a.js', false],
    ['/app/dist/server.js', false],
    ['/app/src/dist/server.js', false],
    ['/app/distance.js', true],
    ['/app/src/generated/a.ts', false],
    ['/app/lib/src/generated/a.ts', true],
    ['/app/logs/a.json', false],
    ['/app/logs/deep/a.json', true],
    ['/app/a/b/fixtures/a.ts', false],
  ])('%s: %j', (path, expected) => {
    expect(isWatched(path, false, watched)).toBe(expected)
  })

  it('are all kinds of files below a path that was given', () => {
    const all = { ...watched, allFiles: true, paths: ['/app/views'] }
    expect(isWatched('/app/views/index.html', false, all)).toBe(true)
    expect(isWatched('/app/views/node_modules/a.html', false, all)).toBe(false)
  })

  it('of directories leaves out ignored ones', () => {
    expect(isWatched('/app/src', true, watched)).toBe(true)
    for (const path of ['/app/node_modules', '/app/.git', '/app/dist', '/app/a/fixtures'])
      expect(isWatched(path, true, watched)).toBe(false)
  })

  it('takes other characters of a pattern as they are', () => {
    expect(isWatched('/app/a+b(1).js', false, { ...watched, ignore: ['a+b(1).js'] })).toBe(false)
    expect(isWatched('/app/axb.js', false, { ...watched, ignore: ['a.b.js', 'a?b.js'] })).toBe(false)
    expect(isWatched('/app/axxb.js', false, { ...watched, ignore: ['a.b.js', 'a?b.js'] })).toBe(true)
  })
})

it.each([
  ['{ "compilerOptions": {\n  // "outDir": "a",\n  "outDir": "./build",\n} }', './build'],
  ['{"compilerOptions":{"outDir":"dist"}}', 'dist'],
  ['{ "compilerOptions": { "strict": true, "outDir": "dist" } }', 'dist'],
  ['{ "compilerOptions": {\n  // "outDir": "a",\n} }', undefined],
])('finds the outDir of a tsconfig.json: %j', (text, outDir) => {
  expect(outDirIn(text)).toBe(outDir)
})
