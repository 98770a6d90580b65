import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasCodedErrors } from './coded-errors.ts'
import { optionsOf, rowsOf } from './options-table.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../packages/aggregator-gateway/${path}`, import.meta.url), 'utf8')
const readme = read('README.md')
const rows = rowsOf(readme)

const options = [
  ...optionsOf(read('src/options/gateway-options.ts'), 'GatewayPluginOptions'),
  ...optionsOf(read('src/options/upstream-options.ts'), 'UpstreamOptions'),
  ...optionsOf(read('src/options/upstream-options.ts'), 'BreakerOptions'),
  ...optionsOf(read('src/options/upstream-options.ts'), 'CacheOptions'),
  ...optionsOf(read('src/options/endpoint-options.ts'), 'EndpointOptions'),
  ...optionsOf(read('src/options/endpoint-options.ts'), 'PassThroughEndpointOptions'),
  ...optionsOf(read('src/options/endpoint-options.ts'), 'PassThroughOptions'),
  ...optionsOf(read('src/options/call-options.ts'), 'CallOptions'),
  ...optionsOf(read('src/options/call-options.ts'), 'MappingOptions'),
  ...optionsOf(read('src/options/gateway-options.ts'), 'StatusOptions'),
  ...optionsOf(read('src/observability/prometheus.ts'), 'PrometheusObserverOptions'),
  ...optionsOf(read('src/observability/opentelemetry.ts'), 'OpenTelemetryObserverOptions'),
  ...optionsOf(read('src/options/call-options.ts'), 'ShadowOptions'),
]

describe('options', () => {
  it.each(options)('$option stands in the README as in its TSDoc', ({ option, meaning, standard }) => {
    expect(rows).toContainEqual([`\`${option}\``, meaning, standard])
  })

  it('the README has no other options', () => {
    const named = rows
      .filter((row) => row.length === 3 && /^`\w+`$/.test(row[0]!))
      .map(([first]) => first!.slice(1, -1))
    const known = [...options.map(({ option }) => option), 'fastify']
    expect(named.filter((name) => !name.startsWith('GATEWAY_')).toSorted()).toEqual(known.toSorted())
  })
})

hasCodedErrors('aggregator-gateway', {
  'create-aggregator-gateway.ts': ['GATEWAY_INVALID_OPTION'],
  'observability/opentelemetry.ts': ['GATEWAY_INVALID_OPTION'],
  'plugin.ts': ['GATEWAY_INVALID_OPTION'],
  'observability/prometheus.ts': ['GATEWAY_INVALID_OPTION'],
})

it('the README has the codes of all errors, and no others', () => {
  const codes = [...read('src/errors.ts').matchAll(/createError\(\s*'(\w+)'/g)].map(([, code]) => code)
  expect(codes.length).toBeGreaterThan(3)
  const named = rows.filter(([first]) => first!.startsWith('`GATEWAY_')).map(([first]) => first!.slice(1, -1))
  expect(named).toEqual(codes)
})

it('the README names all headers of an answer that pass through, and no others', () => {
  const list = /RESPONSE_HEADERS: [^=]*= (\[[\s\S]*?\n\])/.exec(read('src/pass-through/plan.ts'))![1]!
  const named = /what browsers may do with it: ([^.]*)\./.exec(readme.replaceAll(/\s+/g, ' '))![1]!
  const namesIn = (text: string, quote: string): string[] => text.split(quote).filter((_, index) => index % 2 === 1)
  expect(namesIn(named, '`')).toEqual(namesIn(list, "'"))
})

it('the README names all reasons for which a call has no answer, and no others', () => {
  const union = /type FailureReason =\n((?: {2}\| '[\w-]+'\n)+)/.exec(read('src/failures.ts'))![1]!
  const reasons = [...union.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason)
  const named = /Reasons are ([^.]*)\./.exec(readme.replaceAll(/\s+/g, ' '))![1]!
  expect([...named.matchAll(/`([\w-]+)`/g)].map(([, reason]) => reason)).toEqual(reasons)
})

it('the README has what observers learn of the end of a call, as its TSDoc', () => {
  const members = optionsOf(read('src/options/observer.ts').replaceAll(/^ {2}readonly /gm, '  '), 'CallEnd')
  expect(members.length).toBeGreaterThan(5)
  const start = rows.findIndex(([first]) => first === 'member') + 2
  expect(rows.slice(start, start + members.length)).toEqual(
    members.map(({ option, meaning }) => [`\`${option}\``, meaning]),
  )
})

it('the README has all metrics as Prometheus is told of them, and no others', () => {
  const made = [...read('src/observability/prometheus.ts').matchAll(/'(gateway_\w+)',\s*(?:help: )?'([^']+)'/g)]
  expect(made).toHaveLength(7)
  const documented = rows.filter(([first]) => first!.startsWith('`gateway_'))
  expect(documented.map(([name, , , help]) => [name, help])).toEqual(
    made.map(([, name, help]) => [`\`${name}\``, `${help}.`]),
  )
})

/** Each folder imports from those after it only. */
const LAYERS = [
  ...['index.ts', 'create-aggregator-gateway.ts', 'plugin.ts', 'pass-through', 'endpoint', 'call', 'cache', 'upstream'],
  ...['observability', 'request', 'runtime', 'options', 'http', 'failures.ts', 'errors.ts'],
]

it('imports go down the layers of src/', () => {
  const src = new URL('../../packages/aggregator-gateway/src/', import.meta.url)
  const files = globSync('**/*.ts', { cwd: src.pathname })
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
