// The scripts by which Next's own tests deploy an app: as the harness calls them, with a small app of ours.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resultsTable } from '../next-suite/results-table.ts'
import { readJson, run } from './tarball.ts'

const scripts = join(import.meta.dirname, '../next-suite')
const source = join(import.meta.dirname, '../../packages/next-on-fastify')
const folder = mkdtempSync(join(tmpdir(), 'next-suite-'))

const versionOf = (name: string): string =>
  String(readJson(join(source, 'node_modules', name, 'package.json'))['version'])

function write(name: string, content: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), content)
}

beforeAll(() => {
  const dependencies = Object.fromEntries(['next', 'react', 'react-dom'].map((name) => [name, versionOf(name)]))
  write('package.json', JSON.stringify({ private: true, scripts: { build: 'next build' }, dependencies }))
  write('next.config.js', "module.exports = { generateBuildId: () => 'some-build', deploymentId: 'some-deployment' }\n")
  write('pages/index.js', 'export default () => <h1>Deployed</h1>\n')
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('the deployment of an app', () => {
  it('prints its URL, returns its logs, and ends', async () => {
    const deployed = await run(folder, [join(scripts, 'deploy.ts')])
    expect(deployed).toMatchObject({ code: 0, output: deployed.stdout })
    expect(deployed.stdout).toMatch(/^http:\/\/localhost:\d+\n$/)
    const url = deployed.stdout.trim()
    expect(await (await fetch(url)).text()).toContain('<h1>Deployed</h1>')

    const logs = await run(folder, [join(scripts, 'logs.ts')])
    const markers = 'BUILD_ID: some-build\nDEPLOYMENT_ID: some-deployment\nNEXT_SUPPORTS_IMMUTABLE_ASSETS: 0\n'
    expect(logs).toMatchObject({ code: 0, stdout: expect.stringContaining(markers) as string })
    expect(logs.stdout).toContain('Compiled successfully')

    expect(await run(folder, [join(scripts, 'cleanup.ts')])).toEqual({ code: 0, stdout: '', output: '' })
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  it('fails with the output of the build, and prints nothing else to stdout', async () => {
    write('pages/index.js', 'export default () => <h1>Broken\n')
    const { code, stdout, output } = await run(folder, [join(scripts, 'deploy.ts')])
    expect([code, stdout]).toEqual([1, ''])
    expect(output).toContain('pages/index.js')
  })
})

describe('the table of results', () => {
  it('has the counts of each file, and the failures', () => {
    const report = (passed: number, failed: number, skipped: number): string =>
      JSON.stringify({
        numPassedTests: passed,
        numFailedTests: failed,
        numPendingTests: skipped,
        testResults: [
          {
            name: join(folder, 'test/e2e/a.test.ts'),
            status: 'failed',
            message: '',
            assertionResults: [{ status: 'failed', fullName: 'a page', failureMessages: ['Expected 200\nat'] }].slice(
              0,
              failed,
            ),
          },
        ],
      })
    write('test/e2e/a.test.ts.results.json', report(3, 1, 0))
    write('test/e2e/b.test.ts.results.json', report(2, 0, 4).replace('failed', 'passed'))
    const table = resultsTable(folder)
    expect(table).toContain('5 tests passed, 1 failed.')
    expect(table.replaceAll(/ +/g, ' ')).toContain('| test/e2e/a.test.ts | a page | Expected 200 |')
    expect(table.replaceAll(/ +/g, ' ')).toContain('| test/e2e/b.test.ts | 2 | 0 | 4 |')
    expect(() => resultsTable(scripts)).toThrow('No results')
  })
})
