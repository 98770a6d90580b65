import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { optionsOf as kindsOf } from '../../packages/checked-options/src/index.ts'
import {
  factorySchema,
  HANDLER_OPTIONS,
  ownSchema,
  ruleSchema,
} from '../../packages/trpc-fastify/src/options/schema.ts'
import { openTelemetrySchema } from '../../packages/trpc-fastify/src/observability/opentelemetry-options.ts'
import { hasCodedErrors } from './coded-errors.ts'
import { optionsOf, rowsOf, withOptionRows } from './options-table.ts'

const path = (file: string): string => fileURLToPath(new URL(`../../packages/trpc-fastify/${file}`, import.meta.url))
const read = (file: string): string => readFileSync(path(file), 'utf8')
const readme = read('README.md')
const types = read('src/options/types.ts')
const differences = read('docs/differences.md')

/** Rows of the table under a heading of a page, without its head. */
function tableUnder(page: string, heading: string): string[][] {
  const section = read(page)
    .split(/^#{1,3} /m)
    .find((text) => text.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`${page} has no heading ${heading}`)
  return rowsOf(section).slice(2)
}

const namesUnder = (page: string, heading: string): string[] =>
  tableUnder(page, heading).map(([first]) => /^`([\w-]+)`$/.exec(first!)![1]!)

const kinds = new Map([...kindsOf(factorySchema), ...kindsOf(ruleSchema)].map((option) => [option.name, option]))
const ownKinds = [...kinds.values()].filter(({ name }) => HANDLER_OPTIONS.includes(name.split('.')[0]!))

/** Rows of the reference, from the TSDoc of an interface and the schema. */
const documented = (name: string): string[][] =>
  optionsOf(types, name)
    .filter(({ option }) => option !== 'trpcOptions')
    .map(({ option, meaning, standard }) => [`\`${option}\``, meaning, kinds.get(option)!.expected, standard])

const textOf = (value: unknown): string =>
  value === Infinity ? 'Infinity' : JSON.stringify(value).replaceAll('"', "'")

describe('docs/options.md', () => {
  it('has the rows of the TSDoc and of the schema', async () => {
    const own = tableUnder('docs/options.md', "tRPC's own options")
    const tables = [
      documented('TrpcPluginOptions'),
      documented('ProcedureRule'),
      // Their TSDoc is that of tRPC, so that their meanings and defaults stand in the page alone.
      ownKinds.map(({ name, expected }) => {
        const [, meaning = '', , standard = ''] = own.find(([first]) => first === `\`${name}\``) ?? []
        return [`\`${name}\``, meaning, expected, standard]
      }),
      [['`fastify`', 'Options of `Fastify()`.', kinds.get('fastify')!.expected, '{}']],
    ]
    expect(tables[2]!.filter(([, meaning]) => meaning === '')).toEqual([])
    // `vitest run --project docs -u` writes the tables.
    const page = withOptionRows(read('docs/options.md'), tables)
    await expect(page).toMatchFileSnapshot(path('docs/options.md'))
  })

  it('has the options and defaults of the schema', () => {
    const fromSchema = kindsOf(ownSchema).map((option) => [option.name, textOf(option.default)])
    const fromTypes = optionsOf(types, 'TrpcPluginOptions').map(({ option, standard }) => [option, standard])
    expect(fromTypes.filter(([name]) => name !== 'trpcOptions')).toEqual(fromSchema)
  })
})

it('docs/opentelemetry.md has the options of the observer', () => {
  const source = read('src/observability/opentelemetry-options.ts')
  const [tracer] = optionsOf(source, 'OpenTelemetryObserverOptions')
  const [kind] = kindsOf(openTelemetrySchema)
  expect(tableUnder('docs/opentelemetry.md', 'Options')).toEqual([
    [`\`${tracer!.option}\``, tracer!.meaning, kind!.expected, tracer!.standard],
  ])
})

it('the README names options that exist', () => {
  const names = namesUnder('README.md', 'Options')
  expect(names).toHaveLength(5)
  expect([...kinds.keys()]).toEqual(expect.arrayContaining(names))
})

const atStart = ['TRPC_FASTIFY_INVALID_OPTION', 'TRPC_FASTIFY_WEBSOCKET_MISSING']
hasCodedErrors('trpc-fastify', {
  'create-trpc-fastify.ts': atStart,
  'plugin.ts': atStart,
  'openapi/plugin.ts': ['TRPC_FASTIFY_INVALID_OPTION', 'TRPC_FASTIFY_INVALID_OPENAPI'],
  'observability/opentelemetry.ts': ['TRPC_FASTIFY_INVALID_OPTION'],
})

it('docs/troubleshooting.md has the codes of all errors with their meaning, and no others', () => {
  const errors = [...read('src/errors.ts').matchAll(/\/\*\* (.*) \*\/\n[^']*'(\w+)'/g)]
  const rows = tableUnder('docs/troubleshooting.md', 'By error code')
  expect(rows.map(([code, meaning]) => [code, meaning])).toEqual(
    errors.map(([, meaning, code]) => [`\`${code}\``, meaning]),
  )
  expect(rows.every(([, , remedy]) => remedy !== '')).toBe(true)
})

it('docs/fast-path.md has all reasons of fallbacks, and no others', () => {
  const union = /export type FallbackReason =\n((?: {2}\| '[\w-]+'\n)+)/.exec(read('src/request/parse-request.ts'))![1]!
  const reasons = [...union.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason!)
  expect(reasons.length).toBeGreaterThan(5)
  expect(namesUnder('docs/fast-path.md', 'Reasons').toSorted()).toEqual(reasons.toSorted())
})

it('the README names the supported versions', () => {
  const { engines, peerDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const supported = Object.fromEntries(rowsOf(readme).map(([first, second]) => [first!.replaceAll('`', ''), second]))
  expect(`>=${/^[\d.]+/.exec(supported['Node']!)![0]}`).toBe(engines!['node'])
  for (const [name, range] of Object.entries(peerDependencies!)) {
    const version = /^\d+(\.\d+)*/.exec(supported[name === 'fastify' ? 'Fastify' : name]!)![0]
    expect(`^${version}${'.0'.repeat(3 - version.split('.').length)}`).toBe(range)
  }
})

it.each([
  ['List of differences', /^- \*\*([^*]+)\.\*\*/gm, 'test/unit/differences.test.ts'],
  ['Traps that stay', /^- _([^_]+)_/gm, 'test/unit/official-quirks.test.ts'],
])('each item under "%s" of docs/differences.md has a test, and each test an item', (heading, item, tests) => {
  const section = differences.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))!
  const named = [...section.matchAll(item)].map(([, name]) => name)
  const tested = [...read(tests).matchAll(/^(?:it|describe)\('([^']+)'/gm)].map(([, name]) => name)
  expect(named.length).toBeGreaterThan(3)
  expect(tested).toEqual(named)
})
