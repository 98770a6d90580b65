// That tests and sources run with the oldest peers in the project `lowest`, and with the newest elsewhere.

import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import { trace } from '@opentelemetry/api'
import Fastify from 'fastify'
import { SignJWT } from 'jose'
import { Registry } from 'prom-client'
import { expect, inject, it, onTestFinished } from 'vitest'
import { prometheusObserver } from '../../../src/observability/prometheus.ts'
import { gateway } from '../../helpers/servers.ts'

const isLowest = inject('peers') === 'lowest'
// Node's own, which knows no aliases.
const require = createRequire(import.meta.url)
const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, 'utf8')) as { version: string }).version
const { peerDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  peerDependencies: Record<string, string>
}
const imported: Record<string, { lowest: string; member: string; value: unknown }> = {
  '@opentelemetry/api': { lowest: 'opentelemetry-api-lowest', member: 'trace', value: trace },
  jose: { lowest: 'jose-lowest', member: 'SignJWT', value: SignJWT },
  fastify: { lowest: 'fastify-lowest', member: 'default', value: Fastify },
  'prom-client': { lowest: 'prom-client-lowest', member: 'Registry', value: Registry },
}

it.each(Object.entries(peerDependencies))('%s has the version of its project', (name, range) => {
  const { lowest, member, value } = imported[name]!
  // Other files of this worker look at which modules are loaded.
  const before = new Set(Object.keys(require.cache))
  onTestFinished(() => {
    for (const path of Object.keys(require.cache)) if (!before.has(path)) delete require.cache[path]
  })
  expect(value === (require(lowest) as Record<string, unknown>)[member]).toBe(isLowest)
  expect([versionOf(lowest), versionOf(name) === versionOf(lowest)]).toEqual([range.replace(/^\^/, ''), false])
})

it('sources import the same', async () => {
  const app = await gateway({
    upstreams: { it: 'http://127.0.0.1:1' },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' } } }],
    observers: [prometheusObserver({ registry: new Registry() })],
  })
  expect(app.version).toBe(versionOf(isLowest ? 'fastify-lowest' : 'fastify'))
})
