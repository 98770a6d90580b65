import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { optionsOf as describeSchema } from '../../packages/checked-options/src/index.ts'
import { describe, expect, it } from 'vitest'
import { commandFlags, flags } from '../../packages/clustered-server/src/cli/flags.ts'
import { helpText } from '../../packages/clustered-server/src/cli/help.ts'
import { errorCodes } from '../../packages/clustered-server/src/index.ts'
import { schema } from '../../packages/clustered-server/src/options/schema.ts'
import { appKinds, rowsElsewhere } from '../../packages/clustered-server/test/helpers/app-kinds.ts'
import { optionsOf, rowsOf, withOptionRows } from './options-table.ts'

const root = fileURLToPath(new URL('../../packages/clustered-server/', import.meta.url))
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8')

const types = read('src/options/types.ts')
const documented = [
  ...optionsOf(types, 'ClusteredServerOptions'),
  ...optionsOf(types, 'RecycleOptions').map((one) => ({ ...one, option: `recycle.${one.option}` })),
  ...optionsOf(types, 'LingerOptions').map((one) => ({ ...one, option: `linger.${one.option}` })),
  ...optionsOf(types, 'AdminOptions').map((one) => ({ ...one, option: `admin.${one.option}` })),
]
const kinds = new Map(describeSchema(schema).map((kind) => [kind.name, kind]))
/** Without the marks that the help of the command writes in another way. */
const plain = (text: string): string => text.replaceAll(/[`'"]/g, '')

describe('options', () => {
  it('have the same names in their interface and in their schema', () => {
    expect(documented.map(({ option }) => option).toSorted()).toEqual([...kinds.keys()].toSorted())
  })

  it.each(documented)('$option has the default of the schema in its TSDoc', ({ option, standard }) => {
    const { default: own, required } = kinds.get(option)!
    const expected = own === undefined ? (required ? '' : standard || 'a default') : JSON.stringify(own)
    expect(plain(standard)).toBe(plain(expected))
  })

  it('have in docs/options.md the rows of their TSDoc and schema', async () => {
    const tables = ['', 'recycle.', 'linger.', 'admin.'].map((prefix) =>
      documented
        .filter(({ option }) => (prefix === '' ? !option.includes('.') : option.startsWith(prefix)))
        .map(({ option, meaning, standard }) => [`\`${option}\``, meaning, kinds.get(option)!.expected, standard]),
    )
    // `vitest run --project docs -u` writes the tables.
    await expect(withOptionRows(read('docs/options.md'), tables)).toMatchFileSnapshot(`${root}docs/options.md`)
  })

  it('have in docs/options.md their tables under their names', () => {
    const sections = read('docs/options.md').split(/^## /m)
    for (const name of ['recycle', 'linger', 'admin']) {
      const rows = rowsOf(sections.find((section) => section.startsWith(`\`${name}\`\n`))!)
      expect(rows.slice(2).map(([option]) => option)).toEqual(
        documented.flatMap(({ option }) => (option.startsWith(`${name}.`) ? [`\`${option}\``] : [])),
      )
    }
  })

  it('the README names options with the sentences of their TSDoc', () => {
    const rows = rowsOf(read('README.md')).filter((row) => row.length === 3 && kinds.has(row[0]!.slice(1, -1)))
    expect(rows).toHaveLength(5)
    for (const [name, meaning, standard] of rows)
      expect(documented).toContainEqual(expect.objectContaining({ option: name!.slice(1, -1), meaning, standard }))
  })
})

describe('flags of the command', () => {
  const inCode = ['recycle', 'linger', 'admin', 'args', 'env', 'signals', 'logger', 'onShutdown']

  it('exist for each option that can be given in a word', () => {
    const expected = [...kinds.keys()].filter((option) => !inCode.includes(option))
    expect(flags.map(({ option }) => option).toSorted()).toEqual(expected.toSorted())
  })

  it.each(flags)('--$flag has the sentence of its option', ({ option, help }) => {
    expect(plain(help)).toBe(plain(documented.find((one) => one.option === option)!.meaning))
  })

  it.each(flags)('--$flag is in the help and in docs/cli.md', ({ flag, option }) => {
    expect(helpText()).toContain(`\n  --${flag}`)
    expect(rowsOf(read('docs/cli.md')).map(([first, second]) => [first, second])).toContainEqual([
      `\`--${flag}\``,
      `\`${option}\``,
    ])
  })
})

it.each(commandFlags)('--$flag, which sets no option, is in the help and in docs/cli.md', ({ flag, value, help }) => {
  const usage = value === undefined ? `--${flag}` : `--${flag} <${value}>`
  expect(helpText().replaceAll(/\s+/g, ' ')).toContain(` ${usage} ${help} `)
  const rows = rowsOf(read('docs/cli.md')).map((row) => row.map((cell) => plain(cell)))
  expect(rows).toContainEqual([usage, plain(help)])
})

it.each([undefined, 'status', 'reload', 'scale', 'stop'] as const)('the help of %s fits 80 columns', (command) => {
  expect(
    helpText(command)
      .split('\n')
      .filter((line) => line.length > 80),
  ).toEqual([])
})

it('docs/api.md has the codes of all errors, and no others', () => {
  const named = rowsOf(read('docs/api.md')).flatMap(([first]) => /^`(CLUSTERED_SERVER_\w+)`$/.exec(first!)?.[1] ?? [])
  expect(named).toEqual(Object.keys(errorCodes))
})

it('docs/api.md has all events as their TSDoc, and no others', () => {
  const body = /export interface ClusteredServerEvents \{([\s\S]*?)\n\}/.exec(read('src/server-types.ts'))![1]!
  const events = [...body.matchAll(/\/\*\* (.*?) \*\/\s*(\w+): \[/g)].map(([, meaning, name]) => [
    `\`${name}\``,
    meaning,
  ])
  expect(events.length).toBeGreaterThan(5)
  const rows = rowsOf(read('docs/api.md'))
  const start = rows.findIndex(([first]) => first === 'event') + 2
  expect(rows.slice(start, start + events.length)).toEqual(events)
  // The row after the last one is the head of another table.
  expect(rows[start + events.length]?.[0]).not.toMatch(/^`/)
})

it('each kind of app in docs/apps.md is one that a test runs, and the other way round', () => {
  const rows = rowsOf(read('docs/apps.md'))
  const start = rows.findIndex(([first]) => first === 'app') + 2
  const tested = new Set([...appKinds.map(({ row }) => row), ...rowsElsewhere])
  expect(
    rows
      .slice(start)
      .map(([first]) => first!)
      .toSorted(),
  ).toEqual([...tested].toSorted())
})

describe('pages', () => {
  const pages = globSync('docs/*.md', { cwd: root })

  it('are all linked in the README', () => {
    for (const page of pages) expect(read('README.md')).toContain(`](${page})`)
  })
})
