import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { isOnPath } from '../../src/load/find-program.ts'
import { openGenerator } from '../../src/load/generator-client.ts'
import { race } from '../../src/index.ts'
import { resolveRace } from '../../src/options/resolve.ts'
import { ok, server, slow, SMALL } from '../helpers/servers.ts'

const OPTIONS = { ...SMALL, generator: 'wrk' } as const

it('throws SPEED_BOUNDS_GENERATOR_MISSING without wrk on PATH', async () => {
  const { PATH } = process.env
  process.env['PATH'] = '/nowhere'
  try {
    await expect(race({ ok, slow }, OPTIONS).measure()).rejects.toMatchObject({
      code: 'SPEED_BOUNDS_GENERATOR_MISSING',
    })
  } finally {
    process.env['PATH'] = PATH
  }
})

describe.skipIf(process.platform === 'win32')('a wrk that fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-wrk-'))
  const { PATH } = process.env
  afterAll(() => {
    process.env['PATH'] = PATH
    rmSync(folder, { recursive: true })
  })

  it.each([
    ['ends with a code', 'echo "unable to connect" >&2; exit 1', 'it ended with code 1.\n  | unable to connect'],
    ['is killed', 'kill -9 $$', 'it ended with SIGKILL.'],
    ['prints no summary', 'echo 0 requests', 'it printed no summary.\n  | 0 requests'],
  ])('throws SPEED_BOUNDS_GENERATOR_FAILED, and names it once, if it %s', async (_, script, message) => {
    writeFileSync(join(folder, 'wrk'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    process.env['PATH'] = `${folder}${delimiter}${PATH}`
    await expect(race({ ok, slow }, OPTIONS).measure()).rejects.toMatchObject({
      code: 'SPEED_BOUNDS_GENERATOR_FAILED',
      message: `wrk failed: ${message}`,
    })
  })
})

describe.skipIf(!isOnPath('wrk'))('wrk', () => {
  it('sends method, headers and body of the case', async () => {
    const received: unknown[] = []
    const app = createServer(async (incoming, response) => {
      const body = await text(incoming)
      received.push({ method: incoming.method, url: incoming.url, word: incoming.headers['x-word'], body })
      response.statusCode = 201
      response.end('done')
    }).listen(0, '127.0.0.1')
    await once(app, 'listening')
    const sent = { method: 'POST', path: '/a?b=c', headers: { 'x-word': 'a "quoted" \\ one' }, body: '{"a":[1]}\n' }
    const { cases, load } = resolveRace({ ok, slow }, { ...OPTIONS, ...sent })
    const generator = await openGenerator('wrk')
    try {
      const { port } = app.address() as AddressInfo
      const { signal } = new AbortController()
      const target = { origin: `http://127.0.0.1:${port}`, testCase: cases[0]!, status: 201, load }
      const result = await generator.run(target, signal)
      expect(result.failures).toEqual({ errors: 0, timeouts: 0, hanging: 0, unexpectedStatus: 0 })
      expect(result.elapsed).toBeGreaterThan(900)
      expect(result.responses).toBeGreaterThan(100)
      expect(result.responses).toBeLessThanOrEqual(received.length)
      expect(result.latency.p99).toBeGreaterThanOrEqual(result.latency.p50)
      expect(result.utilization).toBeGreaterThan(0)
      const asSent = { method: 'POST', url: '/a?b=c', word: sent.headers['x-word'], body: sent.body }
      expect(received.filter((request) => !isDeepStrictEqual(request, asSent))).toEqual([])
    } finally {
      await generator.close()
      app.close()
      app.closeAllConnections()
    }
  })

  it('counts responses with another status as failures', async () => {
    const fails = server(`response.statusCode = requests > 500 ? 503 : 200; response.end('ok')`)
    await expect(race({ ok, fails }, OPTIONS).measure()).rejects.toMatchObject({ code: 'SPEED_BOUNDS_FAILED_REQUESTS' })
  })
})
