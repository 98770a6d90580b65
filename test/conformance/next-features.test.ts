// Features of Next, one by one: `next start` and next-on-fastify respond alike, and as the case expects.

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import getPort from 'get-port'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFixture } from '../../packages/next-on-fastify/test/helpers/built-fixture.ts'
import { hitsOf } from '../differential/alike.ts'
import type { Pair } from '../differential/differences.ts'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { Conversation } from '../suites/next-features/conversation.ts'
import { features } from '../suites/next-features/index.ts'
import { BUILD_TIMEOUT, isLowest, type SubjectName, subjects } from '../suites/next.ts'

let folder: string
let pair: Pair
let servers: Conversation

/** Starts a server with a copy of the build, whose cache belongs to it. */
async function start(built: string, name: SubjectName): Promise<string> {
  const dir = join(folder, name)
  cpSync(built, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  const { file, env } = subjects[name]
  const port = String(await getPort({ host: '127.0.0.1' }))
  const { origin } = await startSubject(file, { port, env: { ...env, NEXT_DIR: dir } })
  if (origin === '') throw new Error(`${name} has ended`)
  return origin
}

beforeAll(async () => {
  const built = await builtFixture(isLowest ? 'lowest' : 'newest', {}, 'features')
  folder = mkdtempSync(join(built, '../copies-'))
  const [reference, candidate] = await Promise.all([start(built, 'next-start'), start(built, 'next-on-fastify')])
  pair = { reference, candidate }
  servers = new Conversation(pair)
}, BUILD_TIMEOUT)

afterAll(() => {
  endSubjects()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(Object.entries(features))('%s', (_, cases) => {
  it.each(Object.entries(cases))('%s', (_title, ask) => ask(servers))
})

it('has compared responses of the response cache, too', async () => {
  expect(await hitsOf(pair)).toBeGreaterThanOrEqual(5)
})
