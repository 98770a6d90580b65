import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import type { Build } from '../../../src/next/build/cacheable-build.ts'
import { isUnchanged, servedFile } from '../../../src/response-cache/source-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'next-on-fastify-'))
const build: Build = {
  dir,
  distDir: join(dir, 'build'),
  isConditional: () => false,
  coveringRules: [],
  isBot: () => false,
  isProxied: () => false,
  isAlwaysProxied: () => false,
  lifetimeOf: () => undefined,
  fileOf: (path) => (path.startsWith('/outside') ? undefined : path),
  isMade: () => false,
  staticPage: (path) => (path === '/page' ? join(dir, 'page.html') : undefined),
  etagOf: (text) => `"${text}"`,
}
mkdirSync(join(dir, 'public/folder'), { recursive: true })
mkdirSync(join(dir, 'build/static'), { recursive: true })
afterAll(() => rmSync(dir, { recursive: true }))

function write(name: string, content: string): string {
  writeFileSync(join(dir, name), content)
  const { size, mtime } = statSync(join(dir, name))
  return `W/"${size.toString(16)}-${mtime.getTime().toString(16)}"`
}

describe('a response is a file', () => {
  it('if its tag is that of the file', () => {
    const etag = write('public/a.txt', 'a')
    expect(servedFile(build, '/a.txt', etag)).toEqual({ path: join(dir, 'public/a.txt'), version: etag })
    expect(servedFile(build, '/a.txt', `${etag}0`)).toBeUndefined()
    expect(servedFile(build, '/a.txt', undefined)).toBeUndefined()
    expect(servedFile(build, '/outside/a.txt', etag)).toBeUndefined()
  })

  it('of the build, which never changes', () => {
    const etag = write('build/static/a.js', 'a')
    const file = servedFile(build, '/_next/static/a.js', etag)!
    expect(file.version).toBeUndefined()
    rmSync(file.path)
    expect(isUnchanged(file)).toBe(true)
  })

  it('that is a page, if its tag is that of the text', async () => {
    write('page.html', 'text')
    const file = servedFile(build, '/page', '"text"')!
    expect(isUnchanged(file)).toBe(true)
    expect(servedFile(build, '/page', '"other"')).toBeUndefined()
    expect(servedFile(build, '/other', '"text"')).toBeUndefined()
    write('page.html', 'other')
    await nextTurn()
    expect(isUnchanged(file)).toBe(false)
    rmSync(file.path)
    expect(servedFile(build, '/page', '"other"')).toBeUndefined()
  })

  it.each(['/folder', '/none', '/a.txt/b', `/${'x'.repeat(5000)}`])('and not at %s', (path) => {
    expect(servedFile(build, path, 'W/"1-1"')).toBeUndefined()
  })
})

it('a file of public has changed with its size, its time or its end', async () => {
  const etag = write('public/b.txt', 'b')
  const file = servedFile(build, '/b.txt', etag)!
  const { mtime } = statSync(file.path)
  expect(isUnchanged(file)).toBe(true)
  utimesSync(file.path, new Date(), new Date(2020, 1, 1))
  await nextTurn()
  expect(isUnchanged(file)).toBe(false)
  utimesSync(file.path, new Date(), mtime)
  await nextTurn()
  expect(isUnchanged(file)).toBe(true)
  rmSync(file.path)
  await nextTurn()
  expect(isUnchanged(file)).toBe(false)
})

it('requests of one turn of the event loop share one look at a file', async () => {
  const file = servedFile(build, '/c.txt', write('public/c.txt', 'c'))!
  expect(isUnchanged(file)).toBe(true)
  rmSync(file.path)
  expect(isUnchanged(file)).toBe(true)
  await nextTurn()
  expect(isUnchanged(file)).toBe(false)
})
