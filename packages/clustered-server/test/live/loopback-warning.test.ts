// An app that was private as one process must not be public in silence.

import { expect, it, onTestFinished } from 'vitest'
import { createClusteredServer } from '../../src/index.ts'

/** The warnings of a server, a reload included. */
async function warningsOf(app: string, options: { host?: string }): Promise<{ warnings: string[]; host: string }> {
  const warnings: string[] = []
  const ignore = (): void => {}
  const server = await createClusteredServer(new URL(`../fixtures/apps/${app}`, import.meta.url), {
    ...{ workers: 2, port: 0, signals: false, standby: false, heartbeatTimeout: 10_000 },
    logger: { info: ignore, warn: (_, text) => void warnings.push(text), error: ignore },
    ...options,
  })
  onTestFinished(() => server.kill())
  await server.reload()
  return { warnings, host: server.host }
}

it.each(['listens.ts', 'listens-privately.ts'])('warns once of %s, on all addresses', async (app) => {
  const named = app === 'listens.ts' ? '127.0.0.1' : 'localhost'
  const { warnings, host } = await warningsOf(app, {})
  expect(['::', '0.0.0.0']).toContain(host)
  expect(warnings).toEqual([
    `the app names the host ${named}, but the server listens on all addresses: set the option "host" to ${named} or ${host}`,
  ])
})

it.each([
  ['an app that names no host', 'faults.ts', {}],
  ['a server on the same address', 'listens.ts', { host: '127.0.0.1' }],
  ['a server whose option says all addresses', 'listens.ts', { host: '::' }],
])('is silent about %s', async (_title, app, options) => {
  expect((await warningsOf(app, options)).warnings).toEqual([])
})
