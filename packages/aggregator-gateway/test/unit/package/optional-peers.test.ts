import { readFileSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Types are gone at run time. */
const TYPE_IMPORT = /import type [^;']*? from '[^']+'/g

const src = new URL('../../../src/', import.meta.url)
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((file) => [file, readFileSync(new URL(file, src), 'utf8').replaceAll(TYPE_IMPORT, '')] as const)

it('optional peers are imported by their own exports only', () => {
  const importing = (specifier: RegExp): string[] =>
    sources.filter(([, source]) => specifier.test(source)).map(([file]) => file.replaceAll('\\', '/'))
  expect(importing(/from 'prom-client'/)).toEqual(['observability/prometheus.ts'])
  expect(importing(/from '@opentelemetry\/api'/)).toEqual(['observability/opentelemetry.ts'])
  expect(importing(/from 'jose'/)).toEqual(['jwt/jwt-authentication.ts', 'jwt/remote-keys.ts'])
  expect(importing(/from '[^']*\/(?:prometheus|opentelemetry|jwt-authentication)\.ts'/)).toEqual([])
})
