import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { failureSummary, summaryOf } from './prerelease-summary.ts'
import { partsOf, withOverrides } from './with-prerelease.ts'

describe('partsOf', () => {
  it.each([
    ['next@canary', 'next', 'canary'],
    ['@trpc/server@next', '@trpc/server', 'next'],
    ['fastify@6.0.0-alpha.1', 'fastify', '6.0.0-alpha.1'],
  ])('splits %s', (specifier, name, tag) => {
    expect(partsOf(specifier)).toMatchObject({ name, tag })
  })

  it.each(['', 'next', '@trpc/server', 'express@next'])('rejects "%s"', (specifier) => {
    expect(() => partsOf(specifier)).toThrow(
      'Expected @trpc/server@<tag or version>, fastify@<tag or version>, next@<tag or version>, got ' +
        JSON.stringify(specifier),
    )
  })
})

describe('withOverrides', () => {
  it('replaces the packages and leaves all else as it is', () => {
    const settings = "packages:\n  - packages/*\n# Once.\ncatalog:\n  next: ^16.4.6\noverrides:\n  a: '1'\n"
    const changed = withOverrides(settings, ['@trpc/server', '@trpc/client'], '12.0.0-next.1')
    expect(changed).toContain('# Once.')
    expect(parse(changed)).toEqual({
      packages: ['packages/*'],
      catalog: { next: '^16.4.6' },
      overrides: { a: '1', '@trpc/server': '12.0.0-next.1', '@trpc/client': '12.0.0-next.1' },
      minimumReleaseAge: 0,
    })
  })
})

describe('the summary', () => {
  const passed = { status: 'passed', fullName: 'a works', failureMessages: [] }
  const file = (name: string, message: string, assertionResults: (typeof passed | Failure)[]): object => ({
    name: `/copy/${name}`,
    status: message || assertionResults.some(({ status }) => status === 'failed') ? 'failed' : 'passed',
    message,
    assertionResults,
  })
  interface Failure {
    status: string
    fullName: string
    failureMessages: string[]
  }

  it('counts tests, and has no table if all passed', () => {
    const testResults = [file('a.test.ts', '', [passed])]
    expect(summaryOf('next 17', { numPassedTests: 1, numFailedTests: 0, testResults } as never, '/copy')).toBe(
      '## next 17\n\n1 tests passed, 0 failed.\n',
    )
  })

  it('lists failed tests and files that could not run', () => {
    const failure = {
      status: 'failed',
      fullName: 'b responds',
      failureMessages: ['\u001B[31mError: 404 | 200\u001B[39m\n    at b.ts:1'],
    }
    const testResults = [
      file('a.test.ts', '', [passed]),
      file('b.test.ts', '', [passed, failure]),
      file('c.test.ts', 'Cannot find module "next/x"\n  at c.ts:1', []),
    ]
    const summary = summaryOf('next 17', { numPassedTests: 2, numFailedTests: 1, testResults } as never, '/copy')
    expect(summary.split('\n')).toEqual([
      '## next 17',
      '',
      '2 tests passed, 1 failed.',
      '',
      '| file      | test       | failure                     |',
      '| --------- | ---------- | --------------------------- |',
      '| b.test.ts | b responds | Error: 404 \\| 200           |',
      '| c.test.ts | (the file) | Cannot find module "next/x" |',
      '',
    ])
  })

  it('shows the end of the output if the install fails', () => {
    const output = [
      ...Array.from({ length: 50 }, (_, line) => `line ${line}`),
      '\u001B[31mno version\u001B[39m\n',
    ].join('\n')
    const summary = failureSummary('next 17', 'pnpm install', output)
    expect(summary).toMatch(/^## next 17\n\n`pnpm install` failed:\n\n```\nline 21\n[^]*\nno version\n```\n$/)
  })
})
