import { join } from 'node:path'
import { expect, it } from 'vitest'
import { frozenInstall } from '../../../src/compare/package-manager.ts'
import { fixtureRepository } from '../../helpers/fixture-repository.ts'

const DEPENDENT = '{ "dependencies": { "fastify": "5" } }'

function installOf(files: Record<string, string>, inside = '.'): ReturnType<typeof frozenInstall> {
  const repository = fixtureRepository()
  const { folder } = repository
  repository.write(files)
  return frozenInstall(join(folder, inside), folder, 'v1')
}

it.each<[lockfile: string, content: string, command: string]>([
  ['package-lock.json', '{}', 'npm ci --no-audit --no-fund'],
  ['npm-shrinkwrap.json', '{}', 'npm ci --no-audit --no-fund'],
  ['pnpm-lock.yaml', '', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', '# yarn lockfile v1\n', 'yarn install --frozen-lockfile'],
  ['yarn.lock', '__metadata:\n  version: 8\n', 'yarn install --immutable'],
])('%s %j needs %s', (lockfile, content, command) => {
  const install = installOf({ 'package.json': DEPENDENT, [lockfile]: content })
  expect(install).toMatchObject({ lockfile })
  expect(install!.command.join(' ')).toBe(command)
})

it('installs at the lockfile of the workspace', () => {
  const install = installOf({ 'pnpm-lock.yaml': '', 'packages/a/package.json': DEPENDENT }, 'packages/a')
  expect(install!.directory).not.toContain('packages')
})

it('installs nothing without dependencies', () => {
  expect(installOf({ 'package.json': '{ "type": "module" }' })).toBeUndefined()
  expect(installOf({})).toBeUndefined()
})

it('packageManager decides between two lockfiles', () => {
  const files = { 'package-lock.json': '{}', 'yarn.lock': '' }
  expect(installOf({ ...files, 'package.json': '{ "packageManager": "yarn@1.22.22" }' })!.command[0]).toBe('yarn')
  expect(() => installOf(files)).toThrow(
    'v1 has package-lock.json and yarn.lock: remove one, or set "packageManager" in package.json.',
  )
})

it.each<[problem: string, files: Record<string, string>, message: string]>([
  [
    'dependencies without a lockfile',
    { 'package.json': DEPENDENT },
    'v1 has dependencies and no lockfile: commit a lockfile',
  ],
  ['an invalid package.json', { 'package.json': '{' }, 'The package.json of v1 is not valid JSON: '],
])('rejects %s', (_, files, message) => {
  expect(() => installOf(files)).toThrow(message)
})

it('names an invalid package.json by its path within the repository', () => {
  const files = { 'packages/a/package.json': '{' }
  expect(() => installOf(files, 'packages/a')).toThrow('The packages/a/package.json of v1 is not valid JSON: ')
})
