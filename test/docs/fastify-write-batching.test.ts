import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { rowsOf } from './options-table.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../packages/fastify-write-batching/${path}`, import.meta.url), 'utf8')
const readme = read('README.md')
const rows = rowsOf(readme)

/** First cells of the rows below a table's head. */
const namesBelow = (...head: string[]): string[] => {
  const start = rows.findIndex((row) => JSON.stringify(row) === JSON.stringify(head))
  const names = rows.slice(start + 2).map(([first]) => /^`([\w-]+)`$/.exec(first!)?.[1])
  return names.slice(0, names.includes(undefined) ? names.indexOf(undefined) : names.length).map(String)
}

it('the README has the codes of all errors, with their meaning, and no others', () => {
  const errors = [...read('src/errors.ts').matchAll(/\/\*\* (.*) \*\/\nexport const \w+[^']*'(\w+)'/g)]
  expect(errors.map(([, , code]) => code)).toEqual(['FASTIFY_WRITE_BATCHING_INVALID_OPTION'])
  expect(namesBelow('code', 'meaning', 'what to do')).toEqual(errors.map(([, , code]) => code))
  for (const [, meaning, code] of errors) expect(rows).toContainEqual([`\`${code}\``, meaning, 'Remove the option.'])
})

it('the README has the counts as their TSDoc has them, and no others', () => {
  const counts = [...read('src/plugin.ts').matchAll(/\/\*\* (.*) \*\/\n {2}readonly (\w+): number/g)]
  expect(counts).toHaveLength(2)
  expect(namesBelow('name', 'meaning')).toEqual(counts.map(([, , name]) => name))
  for (const [, meaning, name] of counts) expect(rows).toContainEqual([`\`${name}\``, meaning])
})

it('the README has the limits of the code', () => {
  const batch = read('src/busy-tick.ts') + read('src/write-batch.ts')
  const numberOf = (name: string): number =>
    Number(new RegExp(`const ${name} = ([\\d._]+)`).exec(batch)![1]!.replaceAll('_', ''))
  expect(readme).toContain(`took less than ${numberOf('MAX_TIME_PER_WRITE')} ms for each`)
  expect(readme).toContain(
    `Fewer than ${numberOf('MAX_WRITES')} responses and ${numberOf('MAX_BYTES') / 2 ** 20} MiB wait`,
  )
})

it('the README has the number of compared requests', () => {
  const compared = read('test/unit/equal-responses.test.ts')
  const list = (name: string): number =>
    [...new RegExp(`const ${name} = \\[([\\s\\S]*?)\\n?\\]\\n`).exec(compared)![1]!.matchAll(/'\/[^']*'/g)].length
  const named = /const REQUESTS[^{]*\{([\s\S]*?)\n\}/.exec(compared)![1]!
  const others = [...named.matchAll(/^ {2}'[^']+':/gm)].length
  expect(readme).toContain(`${list('GETS') + list('HEADS') + others} kinds of requests are compared`)
})

it('the README names what the package supports', () => {
  const { engines, peerDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  expect(rows).toContainEqual(['Node', `${engines!['node']!.replace('>=', '')} or newer`])
  expect(rows).toContainEqual(['Fastify', /^\^(\d+)/.exec(peerDependencies!['fastify']!)![1]])
})
