// That tests and sources run with the oldest Fastify in the project `lowest`, and with the newest elsewhere.

import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { expect, inject, it } from 'vitest'
import { standInApp } from './stand-in.ts'

it('the Fastify of tests and of sources is the one that this project is for', async () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    peerDependencies: { fastify: string }
  }
  const lowest = manifest.peerDependencies.fastify.slice('^'.length)
  const app = await createNextOnFastify({ dir: standInApp() })
  for (const { version } of [Fastify(), app]) expect(version === lowest).toBe(inject('peers') === 'lowest')
})
