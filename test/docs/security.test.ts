import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rowsOf } from './options-table.ts'

const root = new URL('../../', import.meta.url).pathname
const policy = readFileSync(join(root, 'SECURITY.md'), 'utf8')
const packages = globSync('packages/*/README.md', { cwd: root })
  .map((path) => path.split('/')[1]!)
  .toSorted()
/** The section of the README or of `docs/security.md`. */
const promisesOf = (name: string): string | undefined =>
  ['README.md', 'docs/security.md']
    .map((file) => join(root, 'packages', name, file))
    .filter((path) => existsSync(path))
    .flatMap((path) => readFileSync(path, 'utf8').split(/^#{1,2} /m))
    .find((section) => section.startsWith('Security promises\n'))
const promising = packages.filter((name) => promisesOf(name) !== undefined)

it('each package has security promises', () => {
  expect(promising).toEqual(packages)
})

describe.each(promising)('the security promises of %s', (name) => {
  const [head, , ...promises] = rowsOf(promisesOf(name)!)

  it('are a table of promises and tests', () => {
    expect(head).toEqual(['promise', 'test that holds it'])
    expect(promises.length).toBeGreaterThan(0)
  })

  it.each(promises)('"%s" is held by tests that exist', (_promise, tests) => {
    const paths = [...tests.matchAll(/`([^`]+)`/g)].map(([, path]) => path!)
    expect(paths.length).toBeGreaterThan(0)
    for (const path of paths) expect(path).toMatch(/^test\/.*\.test\.ts$/)
    expect(paths.filter((path) => !existsSync(join(root, 'packages', name, path)))).toEqual([])
  })
})

describe('SECURITY.md', () => {
  it('says where to report', () => {
    expect(policy).toContain('choose **Report a vulnerability**')
  })

  it.each(['In scope, by package', 'What each package trusts'])('has each package under "%s"', (heading) => {
    const section = policy.split(/^## /m).find((one) => one.startsWith(`${heading}\n`))
    const named = rowsOf(section!)
      .slice(2)
      .map(([first]) => first!.slice(1, -1))
    expect(named.toSorted()).toEqual(packages)
  })
})
