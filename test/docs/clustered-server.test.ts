import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { appKinds, rowsElsewhere } from '../../packages/clustered-server/test/helpers/app-kinds.ts'
import { optionsOf, rowsOf } from './options-table.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../packages/clustered-server/${path}`, import.meta.url), 'utf8')
const rows = rowsOf(read('README.md'))

const options = [
  ...optionsOf(read('src/options/options.ts'), 'ClusteredServerOptions'),
  ...optionsOf(read('src/primary/recycling.ts'), 'RecycleOptions'),
  ...optionsOf(read('src/options/options.ts'), 'AdminOptions'),
]

describe('options', () => {
  it.each(options)('$option stands in the README as in its TSDoc', ({ option, meaning, standard }) => {
    expect(rows).toContainEqual([`\`${option}\``, meaning, standard])
  })

  it('the README has no other options', () => {
    const named = rows
      .filter((row) => row.length === 3 && /^`[a-z]\w+`$/.test(row[0]!))
      .map(([first]) => first!.slice(1, -1))
    expect(named.toSorted()).toEqual(options.map(({ option }) => option).toSorted())
  })
})

it('the command has a flag for each option that can be given in a word, and tells of each flag', () => {
  const help = /const HELP = `([\s\S]*?)`/.exec(read('src/cli/cli.ts'))![1]!
  const flags = [...help.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, flag]) => flag!)
  const inCode = ['admin', 'env', 'execArgv', 'signals', 'logger', 'onWorkerStart', 'onReady', 'onShutdown', 'recycle']
  const prefixes = { ClusteredServerOptions: '', RecycleOptions: 'recycle-', AdminOptions: 'admin-' }
  const sources = {
    ClusteredServerOptions: 'options/options',
    RecycleOptions: 'primary/recycling',
    AdminOptions: 'options/options',
  }
  const expected = (['ClusteredServerOptions', 'RecycleOptions', 'AdminOptions'] as const).flatMap((name) =>
    optionsOf(read(`src/${sources[name]}.ts`), name)
      .filter(({ option }) => !inCode.includes(option))
      .map(({ option }) => prefixes[name] + option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)),
  )
  const named = expected.map((flag) => ({ spare: 'no-spare', 'admin-agent-port': 'agent-port' })[flag] ?? flag)
  expect(flags.toSorted()).toEqual([...named, 'help', 'version'].toSorted())
})

it('the README has the codes of all errors, and no others', () => {
  const union = /type ClusteredServerErrorCode =\n((?: {2}\| '\w+'\n)+)/.exec(read('src/errors.ts'))![1]!
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code)
  expect(codes.length).toBeGreaterThan(3)
  const named = rows.filter(([first]) => first!.startsWith('`CLUSTERED_SERVER_')).map(([first]) => first!.slice(1, -1))
  expect(named).toEqual(codes)
})

it('the README has all events as their TSDoc, and no others', () => {
  const body = /export interface ClusteredServerEvents \{([\s\S]*?)\n\}/.exec(read('src/types.ts'))![1]!
  const events = [...body.matchAll(/\/\*\* (.*?) \*\/\s*(\w+): \[/g)].map(([, meaning, name]) => [
    `\`${name}\``,
    meaning,
  ])
  expect(events.length).toBeGreaterThan(5)
  const start = rows.findIndex(([first]) => first === 'event') + 2
  expect(rows.slice(start, start + events.length)).toEqual(events)
  // The row after the last one is the head of another table.
  expect(rows[start + events.length]?.[0]).not.toMatch(/^`/)
})

it('each kind of app in the README is one that a test runs, and the other way round', () => {
  const start = rows.findIndex(([first]) => first === 'an app') + 2
  const kinds = new Set([...appKinds.map(({ row }) => row), ...rowsElsewhere])
  const listed = rows.slice(start, start + kinds.size).map(([first]) => first!)
  expect(listed.toSorted()).toEqual([...kinds].toSorted())
  expect(rows[start + kinds.size]?.[0]).toBe('option')
})
