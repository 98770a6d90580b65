// The caches of an app that sets no option of them.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createNextOnFastify } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { sharedApp } from '../helpers/sharing-processes.ts'
import { type Answer, comparable, type TwoServers, twoServers } from '../helpers/two-servers.ts'

const PATHS = ['/', '/ps', '/still', '/hello.txt', '/behind', '/behind/ps', '/behind/still'] as const
const USERS = ['ada', 'bob', undefined, 'ada', 'bob', undefined] as const

const headerOf = ({ head }: Answer, wanted: string): string[] =>
  head.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)

let servers: TwoServers
beforeAll(async () => {
  servers = await twoServers('newest', undefined, {}, (app) => {
    app.addHook('onRequest', async ({ raw }, reply) => {
      const user = raw.headers['x-session']
      if (user === undefined) return
      // As a hook shows the user to pages, to the client, and to caches on the way.
      raw.headers['x-user'] = user
      reply
        .header('x-user', user)
        .header('set-cookie', `session=${String(user)}`)
        .header('vary', 'x-session')
    })
    app.addHook('preHandler', async ({ raw }, reply) => {
      if (raw.headers['x-user'] === 'bob') reply.header('cache-control', 'private, no-store')
    })
    app.addHook('onSend', async ({ raw }, reply) => void reply.header('x-sent-to', String(raw.headers['x-user'])))
  })
}, BUILD_TIMEOUT)
afterAll(() => servers.close())

describe('hooks that add an identity', () => {
  it(
    'reach their own client only, with pages from the cache',
    async () => {
      for (const path of PATHS) {
        for (const user of USERS) {
          const question = { path, headers: user === undefined ? {} : { 'x-session': user } }
          const [kept, next] = [await servers.kept(question), await servers.next(question)]
          expect({ question, ...comparable(kept) }).toEqual({ question, ...comparable(next) })
          expect({ question, user: headerOf(kept, 'x-user') }).toEqual({ question, user: user ? [user] : [] })
          const cookies = headerOf(kept, 'set-cookie').filter((cookie) => cookie.startsWith('session='))
          expect({ question, cookies }).toEqual({ question, cookies: user ? [`session=${user}`] : [] })
          expect(headerOf(kept, 'x-sent-to')).toEqual([String(user)])
        }
      }
      // Only clients without an identity share responses.
      expect(servers.counts().hits).toBe(PATHS.length)
    },
    BUILD_TIMEOUT,
  )
})

describe('workers of a cluster', () => {
  it(
    'share their cache: after a revalidation in one, no other serves the old page',
    async () => {
      vi.stubEnv('CLUSTERED_SERVER_PRIMARY', String(process.pid))
      const app = await sharedApp('newest')
      onTestFinished(async () => {
        await app.close()
        vi.unstubAllEnvs()
      })
      const [one, two] = await Promise.all([app.start({}), app.start({})])
      app.setVersion(1)
      await one.change('/change?path=/page-of-file')
      for (let turn = 0; turn < 4; turn++) expect(await two.version('/page-of-file')).toBe(1)
      app.setVersion(2)
      await two.change('/change?path=/page-of-file')
      for (let turn = 0; turn < 4; turn++) expect(await one.version('/page-of-file')).toBe(2)
      expect((await one.counts()).hits).toBeGreaterThan(0)
    },
    BUILD_TIMEOUT,
  )
})

it(
  'another process with the same build causes a warning, unless the option decides',
  async () => {
    const { dir } = servers
    const records = join(dir, '.next/next-on-fastify/processes')
    mkdirSync(records, { recursive: true })
    writeFileSync(join(records, String(process.ppid)), '')
    const warningsOf = async (options: { sharedCache?: false }): Promise<unknown[]> => {
      const warnings: unknown[] = []
      const stream = { write: (line: string) => void warnings.push(JSON.parse(line)) }
      const app = await createNextOnFastify({ dir, ...options, fastify: { logger: { level: 'warn', stream } } })
      await app.close()
      return warnings
    }
    expect(await warningsOf({ sharedCache: false })).toEqual([])
    expect(await warningsOf({})).toEqual([
      expect.objectContaining({
        processes: [process.ppid],
        msg: 'other processes serve this build, and do not see revalidations of this one: set "sharedCache" to "machine"',
      }),
    ])
  },
  BUILD_TIMEOUT,
)
