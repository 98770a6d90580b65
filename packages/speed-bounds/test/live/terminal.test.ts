import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { isOnPath } from '../../src/load/find-program.ts'
import { ok } from '../helpers/servers.ts'

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const report = `${process.execPath} ${path('src/cli/main.ts')} report ${path('test/fixtures/result.json')}`

/** The output of a command in a terminal of this width. */
function inTerminal(columns: number, env: Record<string, string> = {}, shown = report): string {
  const command = `stty cols ${columns}; ${shown}`
  // Node takes a terminal of most CI services for one without colors.
  const { CI: _ci, FORCE_COLOR: _force, NO_COLOR: _no, ...own } = process.env
  return spawnSync('script', ['-qec', command, '/dev/null'], {
    encoding: 'utf8',
    env: { ...own, TERM: 'xterm-256color', ...env },
  }).stdout
}

describe.runIf(process.platform === 'linux' && isOnPath('script'))('in a terminal', () => {
  it('no line is longer than 40 columns', () => {
    const lines = stripVTControlCharacters(inTerminal(40)).split(/\r?\n/)
    expect(lines.length).toBeGreaterThan(8)
    expect(lines.filter((line) => line.length > 40)).toEqual([])
  })

  it('advice for a claim is no longer than 40 columns', () => {
    const file = String(ok.file)
    const race = `${process.execPath} ${path('src/cli/main.ts')} race one=${file} other=${file} --budget 100ms 2>&-`
    const text = stripVTControlCharacters(inTerminal(40, {}, race))
    expect(text).toMatch(/^The budget of 100 ms ended /m)
    expect(text.split(/\r?\n/).filter((line) => line.length > 40)).toEqual([])
  })

  it('results have colors, and none with NO_COLOR', () => {
    expect(inTerminal(100)).toContain('\u001B[')
    expect(inTerminal(100, { NO_COLOR: '1' })).not.toContain('\u001B')
  })
})

it('results in a pipe have no colors and no cut lines', () => {
  const { stdout } = spawnSync('/bin/sh', ['-c', report], { encoding: 'utf8' })
  expect(stdout).not.toContain('\u001B')
  expect(stdout).toMatch(/memory +peak +limited by$/m)
})
