// That tests and sources run with the oldest peers in the project `lowest`, and with the newest elsewhere. Next itself is
// there in both versions, and each test says which it means.

import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import Fastify from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { Registry } from 'prom-client'
import { expect, inject, it } from 'vitest'
import { prometheusObserver } from '../../../src/observability/prometheus.ts'
import { standInApp } from '../../helpers/stand-in.ts'

const isLowest = inject('peers') === 'lowest'
// Node's own, which knows no aliases.
const require = createRequire(import.meta.url)
const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, 'utf8')) as { version: string }).version
const { peerDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  peerDependencies: Record<'fastify' | 'prom-client', string>
}

it('the Fastify of tests and of sources is the one that this project is for', async () => {
  const lowest = peerDependencies.fastify.slice('^'.length)
  const app = await createNextOnFastify({ dir: standInApp() })
  for (const { version } of [Fastify(), app]) expect(version === lowest).toBe(isLowest)
})

it('the prom-client of tests and of sources is the one that this project is for', async () => {
  const { Registry: Lowest } = require('prom-client-lowest') as { Registry: typeof Registry }
  expect(Registry === Lowest).toBe(isLowest)
  expect(versionOf('prom-client-lowest')).toBe(peerDependencies['prom-client'].slice('^'.length))
  expect(versionOf('prom-client')).not.toBe(versionOf('prom-client-lowest'))
  // Metrics of another prom-client are not those of its own to a registry.
  const registry = new Registry()
  prometheusObserver({ registry })
  const { Histogram } = require(isLowest ? 'prom-client-lowest' : 'prom-client') as { Histogram: new () => object }
  expect(registry.getSingleMetric('next_response_duration_seconds')).toBeInstanceOf(Histogram)
})
