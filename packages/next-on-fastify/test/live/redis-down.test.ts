// A Redis that refuses every command, as one that is down does, without a server.

import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { createNextOnFastify } from 'next-on-fastify'
import { expect, it, onTestFinished, vi } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

it('logs once that Redis is down, for any number of pages and data', { timeout: BUILD_TIMEOUT }, async () => {
  process.env['NODE_ENV'] = 'production'
  const folder = mkdtempSync(join(tmpdir(), 'redis-down-'))
  const source = createServer((_, response) => void response.end('1')).listen(0, '127.0.0.1')
  await once(source, 'listening')
  vi.stubEnv('VERSION_FILE', join(folder, 'version'))
  vi.stubEnv('RENDERS_FILE', join(folder, 'renders'))
  vi.stubEnv('VERSION_URL', `http://127.0.0.1:${(source.address() as AddressInfo).port}`)
  writeFileSync(join(folder, 'version'), '1')
  const dir = await builtFixture('newest', {}, 'shared')
  const logged: { level: number; msg: string }[] = []
  const stream = new Writable({
    write(line, _, done) {
      logged.push(JSON.parse(String(line)) as { level: number; msg: string })
      done()
    },
  })
  const printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')]
  const redis = async (): Promise<never> => {
    throw new Error('connect ECONNREFUSED')
  }
  const app = await createNextOnFastify({ dir, sharedCache: { redis }, fastify: { logger: { level: 'warn', stream } } })
  onTestFinished(async () => {
    await app.close()
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    source.close()
    rmSync(folder, { recursive: true })
  })
  for (let turn = 0; turn < 20; turn++) {
    const answers = await Promise.all(
      [`/fetched/${turn}`, '/data', '/page-of-file', '/old', '/route'].map((url) => app.inject(url)),
    )
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  }
  const errors = logged.filter(({ level }) => level >= 50).map(({ msg }) => msg)
  expect(new Set(errors).size).toBe(errors.length)
  expect(errors).toContain('shared cache of Next is unavailable: all pages are rendered again')
  expect(printed.flatMap(({ mock }) => mock.calls)).toEqual([])
})
