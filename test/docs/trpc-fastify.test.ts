import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasCodedErrors } from './coded-errors.ts'
import { optionsOf, rowsOf } from './options-table.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../packages/trpc-fastify/${path}`, import.meta.url), 'utf8')
const readme = read('README.md')
const source = read('src/options/types.ts')
const rows = rowsOf(readme)

/** What stands in the first cells of the table below such a head. */
const namesBelow = (...head: string[]): string[] => {
  const start = rows.findIndex((row) => JSON.stringify(row) === JSON.stringify(head))
  expect(start, `a table of ${head.join(', ')}`).not.toBe(-1)
  // The row of dashes comes after the head.
  const names = rows.slice(start + 2).map(([first]) => /^`([\w-]+)`$/.exec(first!)?.[1])
  return names.slice(0, names.includes(undefined) ? names.indexOf(undefined) : names.length).map(String)
}

const pluginOptions = optionsOf(source, 'TrpcPluginOptions')
const factoryOptions = [...source.matchAll(/\/\*\*([^/]*)\*\/\s*fastify\?:/g)].map(([, comment]) => {
  const [meaning, standard] = comment!.trim().split(' @default ')
  return { option: 'fastify', meaning: meaning!, standard: standard! }
})

const rules = optionsOf(read('src/options/types.ts'), 'ProcedureRule')

describe('options', () => {
  it.each(rules)('the rule $option stands in the README as in its TSDoc', ({ option, meaning }) => {
    expect(rows).toContainEqual([`\`${option}\``, meaning])
  })

  it('the README has no other rules', () => {
    expect(rules.length).toBeGreaterThan(5)
    expect(namesBelow('rule', 'meaning')).toEqual(rules.map(({ option }) => option))
  })

  it.each([...pluginOptions, ...factoryOptions])(
    '$option stands in the README as in its TSDoc',
    ({ option, meaning, standard }) => {
      expect(rows).toContainEqual([`\`${option}\``, meaning, standard])
    },
  )

  it('the README has no other options', () => {
    expect(factoryOptions).toHaveLength(1)
    expect(rows.filter((row) => row.length === 3 && row[0] === 'option')).toHaveLength(2)
    const first = namesBelow('option', 'meaning', 'default')
    expect(first).toEqual(pluginOptions.map(({ option }) => option))
  })

  it('the README has the options of trpcOptions that are checked, and no others', () => {
    const checked = /const HANDLER_OPTIONS[^{]*\{\n([\s\S]*?)\n\}/.exec(read('src/options/validate.ts'))![1]!
    const names = [...checked.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name!)
    expect(names.length).toBeGreaterThan(8)
    expect(namesBelow('option', 'meaning')).toEqual(names)
  })
})

const atStart = ['TRPC_FASTIFY_INVALID_OPTION', 'TRPC_FASTIFY_WEBSOCKET_MISSING']
hasCodedErrors('trpc-fastify', { 'create-trpc-fastify.ts': atStart, 'plugin.ts': atStart })

it('the README has the codes of all errors, with what they mean, and no others', () => {
  const errors = [...read('src/errors.ts').matchAll(/\/\*\* (.*) \*\/\n[^']*'(\w+)'/g)]
  expect(errors.length).toBeGreaterThan(1)
  expect(namesBelow('code', 'meaning', 'what to do')).toEqual(errors.map(([, , code]) => code))
  for (const [, meaning, code] of errors) {
    const [, documented, remedy] = rows.find(([first]) => first === `\`${code}\``)!
    expect(documented).toBe(meaning)
    expect(remedy).not.toBe('')
  }
})

it('the README has all reasons for which a request goes to the official adapter, and no others', () => {
  const union = /export type FallbackReason =\n((?: {2}\| '[\w-]+'\n)+)/.exec(read('src/request/parse-request.ts'))![1]!
  const reasons = [...new Set([...union.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason!))]
  expect(namesBelow('reason', 'when').toSorted()).toEqual(reasons.toSorted())
  expect(rows.filter(([first]) => reasons.includes(first!.replaceAll('`', ''))).every(([, when]) => when !== '')).toBe(
    true,
  )
})

it('the README names what the package supports', () => {
  const { engines, peerDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const supported = Object.fromEntries(rows.map(([first, second]) => [first!.replaceAll('`', ''), second]))
  expect(`>=${/^[\d.]+/.exec(supported['Node']!)![0]}`).toBe(engines!['node'])
  for (const [name, range] of Object.entries(peerDependencies!)) {
    const version = /^\d+(\.\d+)*/.exec(supported[name === 'fastify' ? 'Fastify' : name]!)![0]
    expect(`^${version}${'.0'.repeat(3 - version.split('.').length)}`).toBe(range)
  }
})

it('each difference that the README names has a test, and each that has a test is named', () => {
  const named = [...readme.matchAll(/^- \*\*([^*]+)\.\*\*/gm)].map(([, name]) => name)
  const tested = [...read('test/unit/differences.test.ts').matchAll(/^(?:it|describe)\('([^']+)'/gm)].map(
    ([, name]) => name,
  )
  expect(named.length).toBeGreaterThan(3)
  expect(tested).toEqual(named)
})

it('what the README says is kept from the official adapter has a test, and what has a test is said', () => {
  const named = [...readme.matchAll(/^- _([^_]+)_/gm)].map(([, name]) => name)
  const tested = [...read('test/unit/official-quirks.test.ts').matchAll(/^it\('([^']+)'/gm)].map(([, name]) => name)
  expect(named.length).toBeGreaterThan(3)
  expect(tested).toEqual(named)
})
