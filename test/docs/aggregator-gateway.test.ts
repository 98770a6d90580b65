import { optionsOf as describedBy } from 'checked-options'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type Section, SECTIONS } from './gateway-options.ts'
import { gatewaySchema } from './gateway-schema.ts'
import { hasCodedErrors } from './coded-errors.ts'
import { type DocumentedOption, optionsOf, rowsOf, tableOf } from './options-table.ts'

const root = new URL('../../packages/aggregator-gateway/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const documentedIn = ({ source, interfaces }: Section): DocumentedOption[] =>
  interfaces.flatMap((name) => optionsOf(read(source), name))

const optionsPage = `# Options

An unknown or invalid option is an error at start, with its name and the expected value.

${SECTIONS.map((section) => {
  const rows = documentedIn(section).map(({ option, meaning, standard }) => [`\`${option}\``, meaning, standard])
  return `## ${section.heading}\n\n${section.intro}\n\n${tableOf([['option', 'meaning', 'default'], ...rows])}\n`
}).join('\n')}`

it('docs/options.md has the options as their TSDoc', async () => {
  // `vitest run --project docs -u` writes the page.
  await expect(optionsPage).toMatchFileSnapshot(fileURLToPath(new URL('docs/options.md', root)))
})

/** Limits of the store in memory, which have no default beside another store. */
const MEMORY_LIMITS = new Set(['maxBytes', 'maxEntries', 'maxEntryBytes'])
const isLiteral = (text: string): boolean => /^(?:'[^']*'|[\d.]+|true|false|\[\]|\{\})$/.test(text)
const literalOf = (value: unknown): string => JSON.stringify(value)?.replaceAll('"', "'") ?? 'undefined'

describe.each(SECTIONS)('the schema of $heading', (section) => {
  const described = describedBy(section.schema).filter(({ name }) => !name.includes('.'))
  const documented = documentedIn(section)

  it('has the options of the interface', () => {
    expect(described.map(({ name }) => name).toSorted()).toEqual(documented.map(({ option }) => option).toSorted())
  })

  it('has the defaults of the TSDoc', () => {
    const literal = documented.filter(
      ({ option, standard }) => isLiteral(standard) && !(section.heading === 'Cache' && MEMORY_LIMITS.has(option)),
    )
    const defaults = new Map(described.map(({ name, default: standard }) => [name, literalOf(standard)]))
    expect(literal.map(({ option }) => [option, defaults.get(option)])).toEqual(
      literal.map(({ option, standard }) => [option, standard]),
    )
    const withDefault = described.filter(({ default: standard }) => standard !== undefined).map(({ name }) => name)
    const undocumented = documented.filter(({ standard }) => standard === '').map(({ option }) => option)
    expect(withDefault.filter((name) => undocumented.includes(name))).toEqual([])
  })
})

hasCodedErrors('aggregator-gateway', {
  'cache/key-value-cache-store.ts': ['AGGREGATOR_GATEWAY_INVALID_OPTION'],
  'create-aggregator-gateway.ts': ['AGGREGATOR_GATEWAY_INVALID_OPTION'],
  'observability/opentelemetry.ts': ['AGGREGATOR_GATEWAY_INVALID_OPTION'],
  'observability/prometheus.ts': ['AGGREGATOR_GATEWAY_INVALID_OPTION'],
  'plugin.ts': ['AGGREGATOR_GATEWAY_INVALID_OPTION'],
})

it('docs/troubleshooting.md has the codes of all errors, and no others', () => {
  const codes = [...read('src/errors.ts').matchAll(/createError\(\s*'(\w+)'/g)].map(([, code]) => code)
  expect(codes.length).toBeGreaterThan(3)
  const named = rowsOf(read('docs/troubleshooting.md'))
    .filter(([first]) => first!.startsWith('`AGGREGATOR_GATEWAY_'))
    .map(([first]) => first!.slice(1, -1))
  expect(named).toEqual(codes)
})

it('docs/pass-through.md names all headers that are forwarded, and no others', () => {
  const list = /RESPONSE_HEADERS: [^=]*= (\[[\s\S]*?\n\])/.exec(read('src/pass-through/plan.ts'))![1]!
  const named = /These headers are forwarded: ([^.]*)\./.exec(read('docs/pass-through.md').replaceAll(/\s+/g, ' '))![1]!
  const namesIn = (text: string, quote: string): string[] => text.split(quote).filter((_, index) => index % 2 === 1)
  expect(namesIn(named, '`')).toEqual(namesIn(list, "'"))
})

it('docs/failures.md names all reasons of failures, and no others', () => {
  const union = /type FailureReason =\n((?: {2}\| '[\w-]+'\n)+)/.exec(read('src/failure-reasons.ts'))![1]!
  const reasons = [...union.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason)
  const named = /Reasons are ([^.]*)\./.exec(read('docs/failures.md').replaceAll(/\s+/g, ' '))![1]!
  expect([...named.matchAll(/`([\w-]+)`/g)].map(([, reason]) => reason)).toEqual(reasons)
})

it('gateway.schema.json is up to date', () => {
  expect(JSON.parse(read('gateway.schema.json')), 'Run `npx -y pnpm@12 exec node test/docs/gateway-schema.ts`').toEqual(
    JSON.parse(gatewaySchema()),
  )
})

it('docs/observability.md has the members of the end of a call as their TSDoc', () => {
  const members = optionsOf(read('src/options/observer.ts').replaceAll(/^ {2}readonly /gm, '  '), 'CallEnd')
  expect(members.length).toBeGreaterThan(5)
  const rows = rowsOf(read('docs/observability.md'))
  const start = rows.findIndex(([first]) => first === 'member') + 2
  expect(rows.slice(start, start + members.length)).toEqual(
    members.map(({ option, meaning }) => [`\`${option}\``, meaning]),
  )
})

it('docs/observability.md has all metrics with their help, and no others', () => {
  const made = [...read('src/observability/prometheus.ts').matchAll(/'(gateway_\w+)',\s*(?:help: )?'([^']+)'/g)]
  expect(made).toHaveLength(7)
  const documented = rowsOf(read('docs/observability.md')).filter(([first]) => first!.startsWith('`gateway_'))
  expect(documented.map(([name, , , help]) => [name, help])).toEqual(
    made.map(([, name, help]) => [`\`${name}\``, `${help}.`]),
  )
})

describe('links of the documentation', () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: fileURLToPath(root) })]
  const anchorsOf = (path: string): Set<string> => {
    const headings = [...read(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading!)
    return new Set(
      headings.map((heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      ),
    )
  }

  it.each(pages)('%s links to headings that exist', (path) => {
    const missing = [...read(path).matchAll(/\]\((?!https?:)([\w./-]*)#([\w-]+)\)/g)]
      .map(([, file, anchor]) => ({ page: new URL(file!, new URL(path, root)), anchor: anchor! }))
      .filter(({ page }) => page.href.startsWith(root.href))
      .filter(({ page, anchor }) => !anchorsOf(page.href.slice(root.href.length)).has(anchor))
    expect(missing).toEqual([])
  })

  it.each(pages)('%s links to files that exist', (path) => {
    const files = [...read(path).matchAll(/\]\((?!https?:)([\w./-]+)(?:#[\w-]+)?\)/g)].map(([, file]) => file!)
    expect(files.filter((file) => !existsSync(new URL(file, new URL(path, root))))).toEqual([])
  })
})

/** Each folder imports from those after it only. */
const LAYERS = [
  ...[
    'index.ts',
    'cli',
    'create-aggregator-gateway.ts',
    'plugin.ts',
    'stats-decorator.ts',
    'config',
    'pass-through',
    'endpoint',
    'call',
  ],
  ...[
    'cache',
    'upstream',
    'observability',
    'jwt',
    'request',
    'runtime',
    'options',
    'http',
    'logged-errors.ts',
    'failure-reasons.ts',
    'errors.ts',
  ],
]

it('imports go down the layers of src/', () => {
  const src = new URL('src/', root)
  const files = globSync('**/*.ts', { cwd: fileURLToPath(src) })
  expect(files.length).toBeGreaterThan(40)
  const upwards = files.flatMap((file) =>
    [...read(`src/${file}`).matchAll(/from '(\.[^']+)'/g)]
      .map(([, specifier]) => new URL(specifier!, new URL(file, src)).pathname.slice(src.pathname.length))
      .filter((to) => layerOf(to) < layerOf(file))
      .map((to) => `${file} -> ${to}`),
  )
  expect(upwards).toEqual([])
})

function layerOf(file: string): number {
  const index = LAYERS.indexOf(file.split('/')[0]!)
  expect(index).not.toBe(-1)
  return index
}
