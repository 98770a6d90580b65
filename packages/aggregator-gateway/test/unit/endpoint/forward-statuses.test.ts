import { expect, it } from 'vitest'
import { gatewayOf, upstream } from '../../helpers/servers.ts'

const answering = (status: number, headers: Record<string, string> = {}): Promise<string> =>
  upstream((_, response) => void response.writeHead(status, headers).end('{"secret":1}'))

it.each([404, 410, 429, 503])('%i becomes the status of the response', async (status) => {
  const app = await gatewayOf(await answering(status), { one: { path: '/', forwardStatuses: [404, 410, 429, 503] } })
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json()]).toMatchObject([
    status,
    {
      statusCode: status,
      code: 'AGGREGATOR_GATEWAY_UPSTREAM_STATUS',
      message: `The call "one" to it responded ${status}`,
    },
  ])
})

it('forwards `retry-after`', async () => {
  const app = await gatewayOf(await answering(429, { 'retry-after': '7' }), {
    one: { path: '/', forwardStatuses: [429] },
  })
  expect((await app.inject('/')).headers['retry-after']).toBe('7')
})

it('another status is a 502', async () => {
  const app = await gatewayOf(await answering(403), { one: { path: '/', forwardStatuses: [404] } })
  expect((await app.inject('/')).statusCode).toBe(502)
})

it('an optional call is null instead', async () => {
  const app = await gatewayOf(
    await answering(404),
    { one: { path: '/', forwardStatuses: [404], optional: true } },
    { allowAllFailed: true },
  )
  const { statusCode, body } = await app.inject('/')
  expect([statusCode, body]).toEqual([200, '{"one":null}'])
})
