import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const src = fileURLToPath(new URL('../../src', import.meta.url))
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => [file, readFileSync(join(src, file), 'utf8')] as const)

it('prom-client is needed by nothing but the export that is for it', () => {
  const importing = (name: string): string[] =>
    sources.filter(([, source]) => source.includes(`from '${name}'`)).map(([file]) => file)
  expect(importing('prom-client')).toEqual([join('observability', 'prometheus.ts')])
  expect(sources.filter(([, source]) => /prometheus\.ts'/.test(source))).toEqual([])
})
