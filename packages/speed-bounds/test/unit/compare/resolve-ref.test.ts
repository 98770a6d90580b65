import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { repositoryOf } from '../../../src/compare/git.ts'
import { resolveRef } from '../../../src/compare/resolve-ref.ts'
import { fixtureRepository } from '../../helpers/fixture-repository.ts'

const repository = fixtureRepository()
const { folder } = repository
const first = repository.commit({ 'a.txt': '1' })
repository.git('tag', 'v1.0.0')
const second = repository.commit({ 'a.txt': '2' })
repository.git('update-ref', 'refs/remotes/origin/next', first)

it.each([
  ['main', second],
  ['v1.0.0', first],
  ['HEAD~1', first],
  [second.slice(0, 10), second],
])('resolves %s', async (name, commit) => {
  expect(await resolveRef(folder, name)).toEqual({ name, commit, isWorkingTree: false })
})

it('names a commit by the begin of its whole hash', async () => {
  expect(await resolveRef(folder, second)).toEqual({ name: second.slice(0, 12), commit: second, isWorkingTree: false })
})

it('takes . for the working tree', async () => {
  expect(await resolveRef(folder, '.')).toEqual({ name: 'working tree', commit: second, isWorkingTree: true })
})

it.each<[name: string, message: string]>([
  ['nothing', 'There is no commit "nothing": correct the name, or run git fetch --tags.'],
  ['next', 'There is no commit "next": did you mean origin/next?'],
  ['HEAD:a.txt', 'There is no commit "HEAD:a.txt": correct the name, or run git fetch --tags.'],
  ['', 'Invalid ref "": expected the name of a branch, a tag or a commit.'],
  ['-n', 'Invalid ref "-n": expected the name of a branch, a tag or a commit.'],
  ['--upload-pack=x', 'Invalid ref "--upload-pack=x": expected the name of a branch, a tag or a commit.'],
  ['main\nv1.0.0', String.raw`Invalid ref "main\nv1.0.0": expected the name of a branch, a tag or a commit.`],
])('rejects %j', async (name, message) => {
  await expect(resolveRef(folder, name)).rejects.toMatchObject({ code: 'SPEED_BOUNDS_UNKNOWN_REF', message })
})

it('never gives a ref to a shell', async () => {
  for (const name of ['$(touch owned)', '`touch owned`', 'main;touch owned', 'main|touch owned', 'main&&touch owned']) {
    await expect(resolveRef(folder, name)).rejects.toMatchObject({ code: 'SPEED_BOUNDS_UNKNOWN_REF' })
  }
  expect(existsSync(join(folder, 'owned'))).toBe(false)
})

it('says how to get the history of a shallow clone', async () => {
  const clone = join(mkdtempSync(join(tmpdir(), 'speed-bounds-shallow-')), 'clone')
  afterAll(() => rmSync(join(clone, '..'), { recursive: true }))
  repository.git('clone', '--quiet', '--depth', '1', `file://${folder}`, clone)
  await expect(resolveRef(clone, 'v1.0.0')).rejects.toMatchObject({
    message:
      'There is no commit "v1.0.0": this clone is shallow. Run git fetch --unshallow --tags, or set fetch-depth: 0 in actions/checkout.',
  })
})

it('rejects a repository without a commit', async () => {
  const empty = fixtureRepository()
  await expect(resolveRef(empty.folder, '.')).rejects.toMatchObject({
    message: 'The repository has no commit yet: commit something to compare with.',
  })
})

it('rejects a folder that is in no repository', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'speed-bounds-outside-'))
  afterAll(() => rmSync(outside, { recursive: true }))
  const error = (await repositoryOf(outside).catch((reason: unknown) => reason)) as Error
  expect(error).toMatchObject({ code: 'SPEED_BOUNDS_NO_REPOSITORY' })
  expect(error.message).toMatch(/is not in a git working tree \(fatal: .*\): run compare in a clone\.$/)
})
