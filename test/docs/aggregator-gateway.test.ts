import { optionsOf as describedBy } from 'checked-options'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as schemas from '../../packages/aggregator-gateway/src/options/schema.ts'
import { openTelemetrySchema } from '../../packages/aggregator-gateway/src/observability/opentelemetry-options.ts'
import { jwtSchema } from '../../packages/aggregator-gateway/src/jwt/jwt-options.ts'
import { prometheusSchema } from '../../packages/aggregator-gateway/src/observability/prometheus-options.ts'
import { hasCodedErrors } from './coded-errors.ts'
import { type DocumentedOption, optionsOf, rowsOf } from './options-table.ts'

const root = new URL('../../packages/aggregator-gateway/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

interface Section {
  readonly heading: string
  readonly intro: string
  readonly source: string
  readonly interfaces: readonly string[]
  readonly schema: Parameters<typeof describedBy>[0]
}

/** The sections of docs/options.md, in their order. */
const SECTIONS: readonly Section[] = [
  {
    heading: 'Gateway',
    intro: 'Options of `gatewayPlugin`. `createAggregatorGateway` takes `fastify`, too.',
    source: 'src/options/gateway-options.ts',
    interfaces: ['GatewayPluginOptions', 'CreateAggregatorGatewayOptions'],
    schema: schemas.factorySchema,
  },
  {
    heading: 'Status',
    intro: 'Options of `status`.',
    source: 'src/options/gateway-options.ts',
    interfaces: ['StatusOptions'],
    schema: schemas.statusSchema,
  },
  {
    heading: 'Upstream',
    intro: 'Options of each upstream.',
    source: 'src/options/upstream-options.ts',
    interfaces: ['UpstreamOptions'],
    schema: schemas.upstreamSchema,
  },
  {
    heading: 'Circuit breaker',
    intro: 'Options of `circuitBreaker`. See [circuit breakers](failures.md#circuit-breakers).',
    source: 'src/options/upstream-options.ts',
    interfaces: ['CircuitBreakerOptions'],
    schema: schemas.circuitBreakerSchema,
  },
  {
    heading: 'Cache',
    intro: 'Options of `cache`. See [caching](caching.md).',
    source: 'src/options/upstream-options.ts',
    interfaces: ['CacheOptions'],
    schema: schemas.cacheSchema,
  },
  {
    heading: 'KeyValueCacheStore',
    intro: 'Options of `new KeyValueCacheStore(store, options)`.',
    source: 'src/options/upstream-options.ts',
    interfaces: ['KeyValueCacheStoreOptions'],
    schema: schemas.keyValueCacheStoreSchema,
  },
  {
    heading: 'Endpoint',
    intro: 'Options of each endpoint.',
    source: 'src/options/endpoint-options.ts',
    interfaces: ['EndpointOptions'],
    schema: schemas.endpointSchema,
  },
  {
    heading: 'Call',
    intro:
      'Options of each call. The last five map the response, in their order. They apply to each element if it is an array.',
    source: 'src/options/call-options.ts',
    interfaces: ['CallOptions', 'MappingOptions'],
    schema: schemas.callSchema,
  },
  {
    heading: 'Shadow',
    intro: 'Options of `shadow`. See [shadow traffic](failures.md#shadow-traffic).',
    source: 'src/options/call-options.ts',
    interfaces: ['ShadowOptions'],
    schema: schemas.shadowSchema,
  },
  {
    heading: 'For each',
    intro: 'Options of `forEach`. A text is the list alone. See [lists](fan-out.md#a-call-for-each-item).',
    source: 'src/options/call-options.ts',
    interfaces: ['ForEachOptions'],
    schema: schemas.forEachSchema,
  },
  {
    heading: 'Condition',
    intro: 'Options of a condition in `when`. It has either `in` or `notIn`. See [conditions](fan-out.md#conditions).',
    source: 'src/options/call-options.ts',
    interfaces: ['ConditionOptions'],
    schema: schemas.conditionSchema,
  },
  {
    heading: 'Pass-through',
    intro:
      'Options of `passThrough`. Its endpoint has `method`, `path`, `timeout` and `route`, too. See [pass-through](pass-through.md).',
    source: 'src/options/endpoint-options.ts',
    interfaces: ['PassThroughOptions'],
    schema: schemas.passThroughSchema,
  },
  {
    heading: 'JWT authentication',
    intro: 'Options of `jwtAuthentication`. See [authentication](authentication.md#json-web-tokens).',
    source: 'src/jwt/jwt-options.ts',
    interfaces: ['JwtAuthenticationOptions'],
    schema: jwtSchema,
  },
  {
    heading: 'Prometheus observer',
    intro: 'Options of `prometheusObserver`. See [Prometheus](observability.md#prometheus).',
    source: 'src/observability/prometheus-options.ts',
    interfaces: ['PrometheusObserverOptions'],
    schema: prometheusSchema,
  },
  {
    heading: 'OpenTelemetry observer',
    intro: 'Options of `openTelemetryObserver`. See [OpenTelemetry](observability.md#opentelemetry).',
    source: 'src/observability/opentelemetry-options.ts',
    interfaces: ['OpenTelemetryObserverOptions'],
    schema: openTelemetrySchema,
  },
]

const documentedIn = ({ source, interfaces }: Section): DocumentedOption[] =>
  interfaces.flatMap((name) => optionsOf(read(source), name))

/** A table as oxfmt formats it. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)))
  const [head, ...others] = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`,
  )
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others].join('\n')
}

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
  const union = /type FailureReason =\n((?: {2}\| '[\w-]+'\n)+)/.exec(read('src/call-failures.ts'))![1]!
  const reasons = [...union.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason)
  const named = /Reasons are ([^.]*)\./.exec(read('docs/failures.md').replaceAll(/\s+/g, ' '))![1]!
  expect([...named.matchAll(/`([\w-]+)`/g)].map(([, reason]) => reason)).toEqual(reasons)
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
    'create-aggregator-gateway.ts',
    'plugin.ts',
    'stats-decorator.ts',
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
    'call-failures.ts',
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
