import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { importBenchmarks, namesOf } from '../../../src/functions/benchmark-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-functions-'))
afterAll(() => rmSync(folder, { recursive: true }))
let written = 0

function file(source: string): string {
  const path = join(folder, `${written++}.bench.mjs`)
  writeFileSync(path, source)
  return pathToFileURL(path).href
}

it('reads functions, and functions by group', async () => {
  const flat = await importBenchmarks(file('export default { a: () => 1, b: () => 2 }'))
  expect(namesOf(flat)).toEqual([{ group: undefined, names: ['a', 'b'] }])
  const grouped = await importBenchmarks(
    file(`export default { one: { a: () => 1 }, two: { b: () => 2 } }
export const claims = [{ over: 'b', atLeast: 2 }]`),
  )
  expect(namesOf(grouped)).toEqual([
    { group: 'one', names: ['a'] },
    { group: 'two', names: ['b'] },
  ])
  expect(grouped.claims).toEqual([{ over: 'b', atLeast: 2 }])
})

it.each([
  ['has no export', '', 'has no benchmarks: expected'],
  ['exports an empty object', 'export default {}', 'has no benchmarks: expected'],
  ['exports a function', 'export default () => 1', 'has no benchmarks: expected'],
  ['exports an array', 'export default [() => 1]', 'has no benchmarks: expected'],
  ['has an empty group', 'export default { a: {} }', 'has no functions in "a": expected'],
  ['mixes functions and groups', 'export default { a: () => 1, b: { c: () => 1 } }', 'has "b", which is no function'],
  ['has a group with a value', 'export default { g: { a: () => 1, b: 5 } }', 'has "b", which is no function'],
  ['names a function by a number', 'export default { 1: () => 1 }', 'has a benchmark named 1, and'],
  [
    'exports claims that are no list',
    'export default { a: () => 1 }; export const claims = 5',
    'exports "claims" that',
  ],
  ['throws', 'throw new RangeError("no data\\nand more")', 'cannot be imported: RangeError: no data'],
  ['has wrong syntax', 'export default {', 'cannot be imported: '],
  ['imports a package that is missing', 'import "not-there-at-all"', 'cannot be imported: '],
])('rejects a file that %s', async (_, source, message) => {
  const url = file(source)
  const error = await importBenchmarks(url).catch((reason: Error) => reason)
  expect((error as Error).message).toMatch(/^\d+\.bench\.mjs /)
  expect((error as Error).message).toContain(message)
  expect((error as Error).message).not.toContain('\n')
})
