import { readFileSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'

const src = new URL('../../src/', import.meta.url)
const sources = readdirSync(src).map((file) => [file, readFileSync(new URL(file, src), 'utf8')] as const)

it('are needed by nothing but the exports that are for them', () => {
  const importing = (name: string): string[] =>
    sources.filter(([, source]) => source.includes(`from '${name}'`)).map(([file]) => file)
  expect(importing('prom-client')).toEqual(['prometheus.ts'])
  expect(importing('@opentelemetry/api')).toEqual(['opentelemetry.ts'])
  expect([...importing('./prometheus.ts'), ...importing('./opentelemetry.ts')]).toEqual([])
})
