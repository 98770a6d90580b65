import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { copyChanges } from '../../../src/compare/working-tree.ts'
import { fixtureRepository } from '../../helpers/fixture-repository.ts'

it('copies uncommitted changes, and leaves out ignored files', async () => {
  const repository = fixtureRepository()
  const { folder } = repository
  const head = repository.commit({
    ...{ 'same.txt': 'same', 'changed.txt': 'old', 'staged.txt': 'old', 'deleted.txt': 'old', 'renamed.txt': 'text' },
    ...{ 'becomes-folder': 'file', 'becomes-file/a.txt': 'a', '.gitignore': 'ignored.txt\n', 'run.sh': '' },
  })
  const checkout = join(folder, '..', `${folder.split('/').at(-1)}-checkout`)
  repository.git('worktree', 'add', '--quiet', '--detach', checkout, head)
  try {
    rmSync(join(folder, 'deleted.txt'))
    rmSync(join(folder, 'becomes-folder'))
    rmSync(join(folder, 'becomes-file'), { recursive: true })
    repository.write({
      ...{ 'changed.txt': 'new', 'staged.txt': 'new', 'added/new.txt': 'new', 'ignored.txt': 'secret' },
      ...{ 'becomes-folder/a.txt': 'a', 'becomes-file': 'file', 'name with\n"line"': 'odd' },
    })
    repository.git('add', 'staged.txt')
    repository.git('mv', 'renamed.txt', 'moved.txt')
    symlinkSync('same.txt', join(folder, 'link'))
    chmodSync(join(folder, 'run.sh'), 0o755)
    await copyChanges(folder, checkout)
    const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')
    expect(['same.txt', 'changed.txt', 'staged.txt', 'added/new.txt', 'moved.txt'].map(read)).toEqual([
      'same',
      'new',
      'new',
      'new',
      'text',
    ])
    expect(['becomes-folder/a.txt', 'becomes-file', 'name with\n"line"'].map(read)).toEqual(['a', 'file', 'odd'])
    for (const path of ['deleted.txt', 'renamed.txt', 'ignored.txt'])
      expect(existsSync(join(checkout, path))).toBe(false)
    expect(readlinkSync(join(checkout, 'link'))).toBe('same.txt')
    expect(statSync(join(checkout, 'run.sh')).mode & 0o111).toBe(0o111)
  } finally {
    repository.git('worktree', 'remove', '--force', checkout)
  }
})

it('does not write through a link that became a folder', async () => {
  const repository = fixtureRepository()
  const outside = fixtureRepository()
  symlinkSync(outside.folder, join(repository.folder, 'linked'))
  const head = repository.commit()
  const checkout = `${repository.folder}-checkout`
  repository.git('worktree', 'add', '--quiet', '--detach', checkout, head)
  try {
    rmSync(join(repository.folder, 'linked'))
    mkdirSync(join(repository.folder, 'linked'))
    repository.write({ 'linked/file.txt': 'mine' })
    await copyChanges(repository.folder, checkout)
    expect(existsSync(join(outside.folder, 'file.txt'))).toBe(false)
    expect(lstatSync(join(checkout, 'linked')).isDirectory()).toBe(true)
    expect(readFileSync(join(checkout, 'linked/file.txt'), 'utf8')).toBe('mine')
  } finally {
    repository.git('worktree', 'remove', '--force', checkout)
  }
})
