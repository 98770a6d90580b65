import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { LogLevel } from 'fastify'
import { expect, it } from 'vitest'
import { gateway, nobody, upstream, sendJson } from '../../helpers/servers.ts'

/** The lines of the log that a request leaves, apart from Fastify's. */
async function logged(callLogLevel?: LogLevel): Promise<Record<string, unknown>[]> {
  const log = new PassThrough()
  const lines: string[] = []
  log.setEncoding('utf8').on('data', (line: string) => lines.push(line))
  const origin = await upstream((request, response) => {
    if (request.url === '/no') response.writeHead(404).end()
    else sendJson(response, '1')
  })
  const app = await gateway({
    upstreams: { it: origin, gone: await nobody() },
    endpoints: [
      {
        path: '/',
        calls: {
          yes: { upstream: 'it', path: '/yes' },
          no: { upstream: 'it', path: '/no', optional: true },
          nowhere: { upstream: 'gone', path: '/', optional: true },
        },
      },
    ],
    ...(callLogLevel === undefined ? {} : { callLogLevel }),
    fastify: { logger: { level: 'debug', stream: log }, genReqId: () => 'the-request' },
  })
  expect((await app.inject('/')).statusCode).toBe(200)
  return lines
    .map((line) => JSON.parse(line.replaceAll(origin, 'ORIGIN')) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'gateway call ended')
}

it('logs each call at the level of `callLogLevel`', async () => {
  const lines = await logged('debug')
  const ofCall = (name: string): Record<string, unknown> => lines.find(({ call }) => call === name)!
  expect(lines).toHaveLength(3)
  expect(ofCall('yes')).toEqual({
    level: 20,
    time: expect.any(Number) as number,
    pid: process.pid,
    hostname: expect.any(String) as string,
    reqId: 'the-request',
    call: 'yes',
    upstream: 'it',
    origin: 'ORIGIN',
    status: 200,
    duration: expect.any(Number) as number,
    attempts: 1,
    hedged: false,
    msg: 'gateway call ended',
  })
  expect(ofCall('no')).toMatchObject({ status: 404, reason: 'status' })
  expect(ofCall('nowhere')).toMatchObject({ reason: 'connection', err: { code: 'ECONNREFUSED' } })
  expect(ofCall('nowhere')).not.toHaveProperty('status')
})

it.each([undefined, 'silent'] as const)('logs no call when the level is %s', async (level) => {
  expect(await logged(level)).toEqual([])
})

it('warns of the process if the log of the app is off', async () => {
  const warning = once(process, 'warning')
  await gateway({ upstreams: { it: await nobody() }, endpoints: [], callLogLevel: 'info' })
  const message = 'callLogLevel logs nothing, because the log is off. Turn it on by Fastify({ logger: true }).'
  expect(await warning).toEqual([expect.objectContaining({ name: 'AggregatorGatewayWarning', message })])
})
