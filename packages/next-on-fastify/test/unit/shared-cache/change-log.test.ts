import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { FileChanges } from '../../../src/shared-cache/file-change-log.ts'
import { FIRST_POSITION } from '../../../src/shared-cache/store-contract.ts'

let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'change-log-')), 'log')
  onTestFinished(() => rmSync(join(folder, '..'), { recursive: true }))
})

/** A log as one process has it, and what it was told. */
function logOf(full?: number): { log: FileChanges; tags: string[]; positions: number[]; lost: number[] } {
  const [tags, positions, lost]: [string[], number[], number[]] = [[], [], []]
  const reader = {
    changed: (change: { tags?: readonly string[] }, position: number) => {
      tags.push(...(change.tags ?? []))
      positions.push(position)
    },
    lost: (position: number) => void lost.push(position),
  }
  const log = new FileChanges(folder, reader, full)
  onTestFinished(() => log.close())
  return { log, tags, positions, lost }
}

const change = (...tags: string[]): { by: string; tags: string[] } => ({ by: 'me', tags })

it('all readers get all changes in one order', () => {
  const [one, two] = [logOf(), logOf()]
  one.log.append(change('a', 'ä'))
  two.log.append(change('b'))
  one.log.append(change('c'))
  two.log.read()
  expect([one.tags, two.tags]).toEqual([
    ['a', 'ä', 'b', 'c'],
    ['a', 'ä', 'b', 'c'],
  ])
  expect(one.positions).toEqual(two.positions)
  expect(one.positions.toSorted((a, b) => a - b)).toEqual([...new Set(one.positions)])
  expect(two.positions.at(-1)).toBe(two.log.position)
})

it('a new reader gets earlier changes', () => {
  const first = logOf()
  expect(first.lost).toEqual([FIRST_POSITION])
  first.log.append(change('a'))
  const { tags, lost, log } = logOf()
  expect([tags, lost, log.position]).toEqual([['a'], [FIRST_POSITION], first.log.position])
})

it('reports a partial change of a dead process as lost, and reads the next ones', () => {
  const { log, tags, lost } = logOf()
  appendFileSync(join(folder, 'changes-1'), '\n{"by":"other","tags":["hal')
  log.read()
  expect([tags, lost.length]).toEqual([[], 1])
  log.append(change('a'))
  expect([tags, lost.length]).toEqual([['a'], 2])
  expect(lost.at(-1)).toBeGreaterThan(FIRST_POSITION)
})

it('goes on in another file when one is full, of which two are there at most', () => {
  const [one, two, idle] = [logOf(200), logOf(200), logOf(200)]
  const tags = Array.from({ length: 60 }, (_, index) => `tag-${index}`)
  for (const [index, tag] of tags.entries()) (index % 2 === 0 ? one : two).log.append(change(tag))
  one.log.read()
  two.log.read()
  // One that crosses the end may stand in both files.
  expect([[...new Set(one.tags)], [...new Set(two.tags)]]).toEqual([tags, tags])
  expect([one.lost.length, two.lost.length]).toEqual([1, 1])
  expect(readdirSync(folder).length).toBeLessThanOrEqual(2)
  expect(one.positions).toEqual(one.positions.toSorted((a, b) => a - b))
  // Files are gone that it has not read, and it knows that.
  idle.log.read()
  expect(idle.tags.at(-1)).toBe(tags.at(-1))
  expect(idle.lost).toHaveLength(2)
  expect(idle.log.position).toBe(one.log.position)
})

it('goes on when its folder was removed, as a build does', () => {
  const [one, two] = [logOf(), logOf()]
  one.log.append(change('a'))
  rmSync(folder, { recursive: true })
  two.log.append(change('b'))
  one.log.append(change('c'))
  two.log.read()
  expect([one.tags, two.tags]).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ])
  expect([one.lost.length, two.lost.length]).toEqual([2, 2])
})
