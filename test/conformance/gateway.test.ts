import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { cases, dashboard, startUpstreams, subjects, tail, upstreams, type UpstreamUsage } from '../suites/gateway.ts'

const PARTS = ['profile', 'permissions', 'preferences', 'notifications', 'activity']

let upstream: string
let usage: () => Promise<UpstreamUsage>

beforeAll(async () => {
  ;({ origin: upstream, usage } = await startUpstreams())
})
afterAll(endSubjects)

const read = async (url: string): Promise<string> => (await fetch(url)).text()

it('every subject gives the same answers to all cases', async () => {
  await expect(race(subjects, { cases })).toHaveSameResponses()
})

it('their answer has what five upstreams say, of the size that is asked for', async () => {
  const { origin } = await startSubject(subjects['aggregator-gateway'] as URL)
  for (const { path } of Object.values(cases)) {
    const size = path.slice('/api/'.length)
    const bodies = await Promise.all(PARTS.map((part) => read(`${upstream}/${part}/${size}`)))
    for (const body of bodies) expect(body.length / Number(size)).toBeCloseTo(1, 0)
    const members = PARTS.map((part, index) => `"${part}":${bodies[index]}`)
    expect(await read(origin + path)).toBe(`{${members.join(',')}}`)
  }
})

it('the upstreams give the same answers in every process', async () => {
  const { origin } = await startSubject(upstreams)
  for (const path of ['/profile/2000', '/late/profile/150', '/users/7', '/orders?user=7', '/invoices/account-243']) {
    expect(await read(origin + path)).toBe(await read(upstream + path))
  }
})

it('what may be late has the same answers, and the upstreams count such calls', async () => {
  const { origin } = await startSubject(tail)
  const before = (await usage()).calls.late
  const expected = await read(`${upstream}/late/profile/150`)
  for (const path of ['/hedged/150', '/unhedged/150']) {
    const { profile } = JSON.parse(await read(origin + path)) as { profile: unknown }
    expect(JSON.stringify(profile)).toBe(expected)
  }
  expect((await usage()).calls.late - before).toBe(11)
})

it('the dashboard has what depends on other responses and what failed once, and says what is missing', async () => {
  const { origin } = await startSubject(dashboard)
  for (let time = 0; time < 3; time++) {
    const response = await fetch(`${origin}/dashboard/7`)
    const answer = (await response.json()) as Record<string, unknown>
    expect(answer['profile']).toEqual({ name: 'User 7', account: 'account-243' })
    expect(answer['orders']).toHaveLength(3)
    expect(answer['invoices']).toHaveLength(2)
    expect(answer['recommendations']).not.toBeNull()
    expect(answer['badges']).toBeNull()
    expect(response.headers.get('x-gateway-missing')).toBe('badges;reason=status')
  }
})

it.skipIf(process.platform === 'win32').each(Object.entries(subjects))(
  '%s ends with 0 when it has open connections to its upstream',
  async (_name, subject) => {
    const { child, ended, origin } = await startSubject(subject as URL)
    expect((await fetch(origin + cases.small.path)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  },
)
