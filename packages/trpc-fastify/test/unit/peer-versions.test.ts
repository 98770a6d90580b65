// That tests and sources run with the oldest peers in the project `lowest`, and with the newest elsewhere.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import { createTrpcFastify, trpcPlugin } from 'trpc-fastify'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { HAS, versionOf, VERSIONS } from '../helpers/peer-versions.ts'

const isLowest = inject('peers') === 'lowest'
const { peerDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  peerDependencies: Record<keyof typeof VERSIONS, string>
}
// Node's own, which knows no aliases.
const require = createRequire(import.meta.url)
const versionAt = (path: string): string => (require(path) as { version: string }).version

describe.each(Object.keys(peerDependencies) as (keyof typeof VERSIONS)[])('%s', (name) => {
  it('has the version of its project', () => {
    const lowest = peerDependencies[name].replace(/^\^/, '')
    const newest = versionOf(name)
    expect(newest).not.toBe(lowest)
    expect(VERSIONS[name]).toBe(isLowest ? lowest : newest)
  })
})

it('the newest versions have all features that the oldest lack', () => {
  expect(HAS).toEqual(Object.fromEntries(Object.keys(HAS).map((feature) => [feature, !isLowest])))
})

const t = initTRPC.create()
const router = t.router({ mutation: t.procedure.mutation(() => 'ok') })

it('sources import the Fastify and @fastify/websocket of the project, and no other', async () => {
  const app = await createTrpcFastify({ router, useWSS: true })
  onTestFinished(() => app.close())
  expect([Fastify().version, app.version]).toEqual([VERSIONS.fastify, VERSIONS.fastify])
  for (const [name, main] of [
    ['fastify', 'fastify.js'],
    ['@fastify/websocket', 'index.js'],
  ] as const) {
    const loaded = Object.keys(require.cache).filter((path) => path.endsWith(`/node_modules/${name}/${main}`))
    expect(loaded.map((path) => versionAt(path.replace(main, 'package.json')))).toEqual([VERSIONS[name]])
  }
})

it('sources import the @trpc/server of the project', async () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(trpcPlugin, { trpcOptions: { router } })
  // They ask the tRPC that they import what it makes of an empty body.
  const headers = { 'content-type': 'application/json' }
  const answer = await app.inject({ method: 'POST', url: '/mutation', headers })
  expect(app.trpcStats('')).toEqual(
    HAS.emptyBodies
      ? { compiled: 1, uncompiled: 0, fallback: {} }
      : { compiled: 0, uncompiled: 0, fallback: { body: 1 } },
  )
  expect(answer.json()).toEqual({ result: { data: 'ok' } })
})
