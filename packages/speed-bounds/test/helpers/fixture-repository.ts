import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

/** A git repository in a temporary folder. */
export interface FixtureRepository {
  readonly folder: string
  write(files: Readonly<Record<string, string>>): void
  git(...args: string[]): string
  /** Commits everything, and returns the hash. */
  commit(files?: Readonly<Record<string, string>>): string
}

const IDENTITY = { NAME: 'Somebody', EMAIL: 'somebody@example.com' }
const env = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(IDENTITY).map(([key, value]) => [`GIT_${role}_${key}`, value]),
  ),
)

export function fixtureRepository(): FixtureRepository {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'speed-bounds-fixture-')))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const repository: FixtureRepository = {
    folder,
    write(files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
    },
    git: (...args) =>
      execFileSync('git', args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } }).trim(),
    commit(files = {}) {
      repository.write(files)
      repository.git('add', '--all')
      repository.git('commit', '--quiet', '--allow-empty', '--no-verify', '--message', 'change')
      return repository.git('rev-parse', 'HEAD')
    },
  }
  repository.git('init', '--quiet', '--initial-branch', 'main')
  return repository
}
