import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { recordedFunctions } from '../../helpers/recorded-functions.ts'
import { measuredLoad } from '../../helpers/recorded-load.ts'
import { readResult } from '../../../src/report/read-result.ts'

const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-result-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'result.json')

it.each<[problem: string, text: string, message: RegExp]>([
  ['a file that is not JSON', 'nonsense\nlines\n', /^Cannot read .*result\.json: .*$/],
  [
    'another document',
    '{}',
    /result\.json is not a result of speed-bounds: expected a file that --json has written\.$/,
  ],
  ['null', 'null', /is not a result of speed-bounds/],
  [
    'another version',
    '{ "version": 1, "rounds": [], "summaries": [], "claims": [] }',
    /has version 1 of the result document, expected 2: measure again\.$/,
  ],
  ['an empty list', '[]', /is not a result of speed-bounds/],
  ['a list of numbers', '[1]', /is not a result of speed-bounds/],
  ['an unknown kind', '{ "version": 1, "kind": "constructor" }', /is not a result of speed-bounds/],
  ['a list of loads', '[{ "version": 1, "kind": "load", "phases": [] }]', /is not a result of speed-bounds/],
  [
    'functions of another version',
    '[{ "version": 2, "kind": "functions", "functions": [], "ratios": [], "claims": [], "rounds": [] }]',
    /has version 2 of the result document, expected 1: measure again\.$/,
  ],
])('rejects %s', (_, text, message) => {
  writeFileSync(file, text)
  expect(() => readResult(file)).toThrow(message)
  expect(() => readResult(file)).toThrow(expect.objectContaining({ code: 'SPEED_BOUNDS_INVALID_RESULT' }) as Error)
})

it('rejects a file that does not exist', () => {
  expect(() => readResult(join(folder, 'none.json'))).toThrow(/^Cannot read .*none\.json: ENOENT/)
})

it.each([
  ['a load', measuredLoad()],
  ['a list of races of functions', recordedFunctions()],
  ['one race of functions', recordedFunctions()[0]],
])('reads %s', (_, document) => {
  writeFileSync(file, JSON.stringify(document))
  expect(readResult(file)).toEqual(document)
})
