import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasCodedErrors } from './coded-errors.ts'
import { optionsOf, rowsOf } from './options-table.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../packages/next-on-fastify/${path}`, import.meta.url), 'utf8')
const readme = read('README.md')
const rows = rowsOf(readme)

const source = read('src/options.ts')
const options = [
  ...optionsOf(source, 'NextPluginOptions'),
  ...optionsOf(read('src/response-cache/create-response-cache.ts'), 'MemoryOptions'),
  ...optionsOf(read('src/observability/prometheus.ts'), 'PrometheusObserverOptions'),
  ...optionsOf(read('src/shared-cache/open-shared-cache.ts'), 'MachineCacheOptions'),
  ...optionsOf(read('src/shared-cache/redis/redis-store.ts'), 'RedisCacheOptions'),
  ...optionsOf(read('src/http/graceful-stop.ts'), 'GracefulStopOptions'),
  ...optionsOf(
    source.replace('<Fastify = FastifyServerOptions> extends NextPluginOptions', ''),
    'CreateNextOnFastifyOptions',
  ),
]

describe('options', () => {
  it.each(options)('$option stands in the README as in its TSDoc', ({ option, meaning, standard }) => {
    expect(rows).toContainEqual([`\`${option}\``, meaning, standard])
  })

  it('the README has no other options', () => {
    const named = rows
      .filter((row) => row.length === 3 && /^`\w+`$/.test(row[0]!))
      .map(([first]) => first!.slice(1, -1))
    expect(named.filter((name) => !name.startsWith('NEXT_ON_FASTIFY_')).toSorted()).toEqual(
      options.map(({ option }) => option).toSorted(),
    )
    expect(options.at(-1)!.option).toBe('fastify')
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

it('the README has the codes of all errors, with what they mean, and no others', () => {
  const errors = [...read('src/errors.ts').matchAll(/\/\*\* (.*) \*\/\n[^']*'(\w+)'/g)]
  expect(errors.length).toBeGreaterThan(5)
  const documented = rows.filter(([first]) => first!.startsWith('`NEXT_ON_FASTIFY_'))
  expect(documented.map(([code, meaning]) => [code, meaning])).toEqual(
    errors.map(([, meaning, code]) => [`\`${code}\``, meaning]),
  )
  for (const [, , remedy] of documented) expect(remedy).not.toBe('')
})

it('the README names what the package supports, and its source refuses what is older', () => {
  const { engines, peerDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const supported = Object.fromEntries(rows.map(([first, second]) => [first!.replaceAll('`', ''), second]))
  expect(`>=${/^[\d.]+/.exec(supported['Node']!)![0]}`).toBe(engines!['node'])
  expect(`^${supported['Fastify']}.0.0`).toBe(peerDependencies!['fastify'])
  const oldest = /^[\d.]+/.exec(supported['next']!)![0]
  expect(peerDependencies!['next']).toBe(`>=${oldest} <17`)
  expect(read('src/next/load.ts')).toContain(`const OLDEST = [${oldest.replaceAll('.', ', ')}] as const`)
  const catalog = readFileSync(new URL('../../pnpm-workspace.yaml', import.meta.url), 'utf8')
  expect(catalog).toContain(`next-lowest: npm:next@${oldest}\n`)
})

it('each security promise of the README names tests that are there', () => {
  const [, table] = /## Security promises\n([^#]*)/.exec(readme)!
  const promises = rowsOf(table!).slice(2)
  expect(promises.length).toBeGreaterThan(10)
  for (const [promise, tests] of promises) {
    const names = [...tests!.matchAll(/`(test\/[\w/-]+\.test\.ts)`/g)].map(([, name]) => name!)
    expect({ promise, tests }).toEqual({ promise, tests: names.map((name) => `\`${name}\``).join(', ') })
    for (const name of names) expect(read(name)).not.toBe('')
  }
})
