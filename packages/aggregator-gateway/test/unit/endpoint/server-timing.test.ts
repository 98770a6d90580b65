import { expect, it } from 'vitest'
import { gateway, jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

/** What the header says, by call. */
function durationsOf(header: unknown): Record<string, number> {
  const entries = String(header).split(', ')
  return Object.fromEntries(
    entries.map((entry) => {
      const [, name, duration] = /^([\w-]+);dur=(\d+\.\d)$/.exec(entry)!
      return [name!, Number(duration)]
    }),
  )
}

it('has the duration of each call, without waiting for dependencies', async () => {
  const origin = await upstream((request, response) => {
    setTimeout(() => sendJson(response, '1'), request.url === '/slow' ? 150 : 0)
  })
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [
      {
        path: '/',
        serverTiming: true,
        calls: {
          slow: { upstream: 'it', path: '/slow' },
          dependent: { upstream: 'it', path: '/quick/{calls.slow}' },
          quick: { upstream: 'it', path: '/quick' },
        },
      },
    ],
  })
  const durations = durationsOf((await app.inject('/')).headers['server-timing'])
  expect(Object.keys(durations)).toEqual(['slow', 'dependent', 'quick'])
  expect(durations['dependent']).toBeLessThan(durations['slow']!)
  expect(durations['quick']).toBeLessThan(durations['slow']!)
})

it('has failed and late calls, but none that was not made', async () => {
  const origin = await upstream((request, response) => {
    if (request.url === '/fails') response.writeHead(500).end()
  })
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [
      {
        path: '/',
        serverTiming: true,
        calls: {
          fails: { upstream: 'it', path: '/fails', optional: true },
          hangs: { upstream: 'it', path: '/hangs', optional: true, timeout: 50 },
          not: { upstream: 'it', path: '/{calls.fails}', optional: true },
        },
      },
    ],
  })
  const { statusCode, headers } = await app.inject('/')
  expect(statusCode).toBe(502)
  expect(Object.keys(durationsOf(headers['server-timing']))).toEqual(['fails', 'hangs'])
})

it('works with a compose function', async () => {
  const app = await gateway({
    upstreams: { it: await jsonUpstream(() => 1) },
    endpoints: [
      { path: '/', serverTiming: true, calls: { one: { upstream: 'it', path: '/' } }, compose: ({ one }) => ({ one }) },
    ],
  })
  expect(durationsOf((await app.inject('/')).headers['server-timing'])).toHaveProperty('one')
})

it.each([undefined, false])('is missing with %s', async (serverTiming) => {
  const app = await gateway({
    upstreams: { it: await jsonUpstream(() => 1) },
    endpoints: [
      {
        path: '/',
        calls: { one: { upstream: 'it', path: '/' } },
        ...(serverTiming === undefined ? {} : { serverTiming }),
      },
    ],
  })
  expect((await app.inject('/')).headers).not.toHaveProperty('server-timing')
})
