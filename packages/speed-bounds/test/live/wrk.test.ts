import { describe, expect, it } from 'vitest'
import { isOnPath } from '../../src/generator.ts'
import { race } from '../../src/index.ts'
import type { FileSubject } from '../../src/options.ts'
import { ok, server, slow, SMALL, spin } from './servers.ts'

const OPTIONS = { ...SMALL, cycles: 1, generator: 'wrk' } as const

it('is missed with a coded error when it is not on PATH', async () => {
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

describe.skipIf(!isOnPath('wrk'))('wrk', () => {
  it('sends method, headers and body as the case has them, and measures what they cost', async () => {
    const strict = (work: string): FileSubject =>
      server(`
      let body = ''
      request.on('data', (chunk) => (body += chunk)).on('end', () => {
        const right = request.method === 'POST' && request.headers['x-word'] === 'a "quoted" \\\\ one' && body === '{"a":[1]}\\n'
        response.statusCode = right ? 201 : 400
        ${work}
        response.end('done')
      })`)
    const post = {
      method: 'POST',
      headers: { 'x-word': 'a "quoted" \\ one' },
      body: '{"a":[1]}\n',
      expect: { status: 201 },
    }
    const match = race({ light: strict(''), heavy: strict(spin(150)) }, { ...OPTIONS, ...post })
    const { rounds, summaries } = await match.measure()
    const [light, heavy] = ['light', 'heavy'].map((name) => summaries.find(({ subject }) => subject === name)!.mean)
    expect(heavy!.cpu - light!.cpu).toBeGreaterThan(140)
    for (const round of rounds) {
      expect(round.failures).toBe(0)
      expect(round.elapsed).toBeGreaterThan(900)
      expect(round.answers).toBeGreaterThan(1000)
      expect(round.p99).toBeGreaterThanOrEqual(round.p50)
      expect(round.generatorUtilisation).toBeGreaterThan(0)
    }
  })

  it('counts answers with another status as failures', async () => {
    const fails = server(`response.statusCode = requests > 500 ? 503 : 200; response.end('ok')`)
    await expect(race({ ok, fails }, OPTIONS).measure()).rejects.toMatchObject({ code: 'SPEED_BOUNDS_FAILED_REQUESTS' })
  })
})
