import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { optionsOf as schemaOptionsOf } from '../../packages/checked-options/src/index.ts'
import { describe, expect, it } from 'vitest'
import { factorySchema } from '../../packages/next-on-fastify/src/options/schema.ts'
import { hasCodedErrors } from './coded-errors.ts'
import { featureRows } from '../suites/next-features/index.ts'
import { optionsOf, rowsOf, withOptionRows } from './options-table.ts'

const root = new URL('../../packages/next-on-fastify/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const source = read('src/options/types.ts').replace('<Fastify = FastifyServerOptions> extends NextPluginOptions', '')
const interfaces = [
  'NextPluginOptions',
  'CreateNextOnFastifyOptions',
  'ResponseCacheOptions',
  'CompressionOptions',
  'MachineCacheOptions',
  'RedisCacheOptions',
  'CdnOptions',
  'GracefulStopOptions',
]
const documented = interfaces.flatMap((name) => optionsOf(source, name))

it('docs/options.md has the types, meanings and defaults of the TSDoc', async () => {
  const observer = optionsOf(read('src/observability/prometheus.ts'), 'PrometheusObserverOptions')
  const tables = [...interfaces.map((name) => optionsOf(source, name)), observer].map((table) =>
    table.map(({ option, type, meaning, standard }) => [
      `\`${option}\``,
      `\`${type.replaceAll('|', '\\|')}\``,
      meaning.replaceAll('|', '\\|'),
      standard || 'required',
    ]),
  )
  // `vitest run --project docs -u` writes the tables.
  const page = withOptionRows(read('docs/options.md'), tables)
  await expect(page).toMatchFileSnapshot(fileURLToPath(new URL('docs/options.md', root)))
})

describe('the schema', () => {
  const inSchema = schemaOptionsOf(factorySchema).map(({ name, ...rest }) => ({
    name: name.split('.').at(-1)!,
    ...rest,
  }))

  it('has the options of the TSDoc', () => {
    expect([...new Set(inSchema.map(({ name }) => name))].toSorted()).toEqual(
      [...new Set(documented.map(({ option }) => option))].toSorted(),
    )
  })

  it('has the defaults of the TSDoc', () => {
    const defaults = inSchema.filter(({ default: standard }) => standard !== undefined)
    expect(defaults.length).toBeGreaterThan(5)
    for (const { name, default: standard } of defaults) {
      const stated = documented.find(({ option }) => option === name)!.standard
      expect({ name, stated }).toEqual({
        name,
        stated: typeof standard === 'string' ? `'${standard}'` : String(standard),
      })
    }
  })
})

const atStart = [
  'NEXT_ON_FASTIFY_INVALID_OPTION',
  'NEXT_ON_FASTIFY_NEXT_MISSING',
  'NEXT_ON_FASTIFY_NEXT_VERSION',
  'NEXT_ON_FASTIFY_NO_BUILD',
  'NEXT_ON_FASTIFY_NOT_PREPARED',
  'NEXT_ON_FASTIFY_BASE_PATH',
  'NEXT_ON_FASTIFY_SECOND_APP',
  'NEXT_ON_FASTIFY_CACHE_NOT_SHARED',
]
hasCodedErrors('next-on-fastify', {
  'create-next-on-fastify.ts': atStart,
  'plugin.ts': atStart,
  'request.ts': ['NEXT_ON_FASTIFY_NO_REQUEST'],
})

it('docs/troubleshooting.md has all error codes with their meaning and a remedy', () => {
  const errors = [...read('src/errors.ts').matchAll(/\/\*\* (.*) \*\/\n[^']*'(\w+)'/g)]
  expect(errors.length).toBeGreaterThan(5)
  const codes = rowsOf(read('docs/troubleshooting.md')).filter(([first]) => first!.startsWith('`NEXT_ON_FASTIFY_'))
  expect(codes.map(([code, meaning]) => [code, meaning])).toEqual(
    errors.map(([, meaning, code]) => [`\`${code}\``, meaning]),
  )
  for (const [, , remedy] of codes) expect(remedy).not.toBe('')
})

it('docs/metrics.md has all metrics with their meaning', () => {
  const metrics = [...read('src/observability/prometheus.ts').matchAll(/name: '(next_\w+)',\s*help: '([^']+)'/g)]
  expect(metrics.length).toBe(9)
  const rows = rowsOf(read('docs/metrics.md')).filter(([first]) => first!.startsWith('`next_'))
  expect(Object.fromEntries(rows.map(([name, , , meaning]) => [name, meaning]))).toEqual(
    Object.fromEntries(metrics.map(([, name, help]) => [`\`${name}\``, `${help}.`])),
  )
})

it('docs/response-cache.md has all reasons of a bypass', () => {
  const text = read('src/response-cache/key.ts') + read('src/response-cache/cache-counters.ts')
  const types = [/export type Bypass =([^=]*?)\n\n/, /export type BypassReason = Bypass([^\n]*)/].map(
    (type) => type.exec(text)![1]!,
  )
  const reasons = types.flatMap((type) => [...type.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason!))
  const [, section] = read('docs/response-cache.md').split('## Which requests bypass the cache')
  const rows = rowsOf(section!.split('With `cacheStatus')[0]!).slice(2)
  const named = rows.flatMap(([first]) => [...first!.matchAll(/`([\w-]+)`/g)].map(([, reason]) => reason!))
  expect(named.toSorted()).toEqual(reasons.toSorted())
})

it('docs/response-cache.md has all reasons for which a response is not stored', () => {
  const reasons = [
    ['policy', /export type UncacheableReason =([^=]*?)\n\n/],
    ['recorder', /export type Unrecordable =([^\n]*)/],
    ['cache-counters', /export type NotStoredReason =([^\n]*)/],
  ].flatMap(([file, type]) => {
    const [, union] = (type as RegExp).exec(read(`src/response-cache/${file as string}.ts`))!
    return [...union!.matchAll(/'([\w-]+)'/g)].map(([, reason]) => `\`${reason!}\``)
  })
  const [, section] = read('docs/response-cache.md').split('as `notStored`:')
  const rows = rowsOf(section!.split('\n## ')[0]!).slice(2)
  expect(rows.map(([reason]) => reason)).toEqual(reasons.toSorted())
})

it('the README names the supported versions, and the source refuses other ones', () => {
  const { engines, peerDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const rows = rowsOf(read('README.md'))
  const supported = Object.fromEntries(rows.map(([first, second]) => [first!.replaceAll('`', ''), second]))
  expect(`>=${/^[\d.]+/.exec(supported['Node']!)![0]}`).toBe(engines!['node'])
  expect(`^${supported['Fastify']}.0.0`).toBe(peerDependencies!['fastify'])
  const oldest = /^[\d.]+/.exec(supported['next']!)![0]
  expect(peerDependencies!['next']).toBe(`>=${oldest} <17`)
  expect(read('src/next/load.ts')).toContain(`const SUPPORTED = '${peerDependencies!['next']}'`)
  const catalog = readFileSync(new URL('../../pnpm-workspace.yaml', import.meta.url), 'utf8')
  expect(catalog).toContain(`next-lowest: npm:next@${oldest}\n`)
})

describe('the pages', () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: root.pathname })]
  const anchorsOf = (page: string): string[] =>
    [...page.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    )

  it.each(pages)('%s links to files and sections that exist', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!)
    const broken = links.filter((link) => {
      const { protocol, pathname, hash } = new URL(link, new URL(page, root))
      if (protocol !== 'file:') return false
      return (
        !existsSync(pathname) || (hash !== '' && !anchorsOf(readFileSync(pathname, 'utf8')).includes(hash.slice(1)))
      )
    })
    expect(broken).toEqual([])
  })
})

describe('docs/compatibility.md', () => {
  it('has the area and the title of each case', () => {
    const areas = new Set(featureRows.map(([area]) => area))
    const rows = rowsOf(read('docs/compatibility.md')).filter(([area]) => areas.has(area!))
    expect(rows).toEqual(featureRows)
    expect(rows.length).toBeGreaterThanOrEqual(40)
  })
})
