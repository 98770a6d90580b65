import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { keyOf, MAPPED, UNSUPPORTED } from '../../packages/clustered-server/src/cli/ecosystem/keys.ts'
import { optionsOf, rowsOf } from './options-table.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../packages/clustered-server/${path}`, import.meta.url), 'utf8')

const page = read('docs/from-pm2.md')
/** The rows of the table of a section. */
const tableOf = (title: string): string[][] =>
  rowsOf(page.split('\n## ').find((section) => section.startsWith(title))!).slice(2)

it('docs/from-pm2.md has the keys with a counterpart, and what they become', () => {
  expect(tableOf('Keys with a counterpart')).toEqual(Object.entries(MAPPED).map(([key, here]) => [`\`${key}\``, here]))
})

it('docs/from-pm2.md has the keys without a counterpart, and the advice of their warnings', () => {
  const rows = UNSUPPORTED.map(({ key, advice }) => [`\`${key}\``, advice])
  expect(tableOf('Keys without a counterpart')).toEqual(rows)
})

it('docs/config-file.md has the keys that only a configuration file has', () => {
  const keys = optionsOf(read('src/options/types.ts'), 'ClusteredServerConfig').map(({ option }) => `\`${option}\``)
  const [, , ...rows] = rowsOf(read('docs/config-file.md').split('\n## ')[0]!)
  expect(rows.map(([key]) => key)).toEqual([...keys, 'all other'])
})

it('each key and alias that PM2 knows is in the tables', () => {
  const path = '../../examples/clustered-server/node_modules/pm2/lib/API/schema.json'
  const schema = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Record<string, { alias?: unknown }>
  // The key of env_<name> is a regular expression.
  const keys = Object.entries(schema).filter(([key]) => !key.startsWith('^'))
  expect(keys.length).toBeGreaterThan(50)
  const unknown = keys.flatMap(([key, { alias = [] }]) => {
    const names = [key, ...[alias].flat()].map(String)
    const known = new Set(names.map((name) => keyOf(name)))
    return known.size === 1 && !known.has(undefined) ? [] : [names]
  })
  expect(unknown).toEqual([])
})
