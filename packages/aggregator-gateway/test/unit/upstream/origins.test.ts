// Where calls go: the origins of an upstream, their names and their certificates.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, type LookupFunction, type Server } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gateway, gatewayOf, jsonUpstream, sendJson } from '../../helpers/servers.ts'

it('calls the origin with the fewest calls, alternating between equal ones', async () => {
  const seen = [0, 0]
  const origins = await Promise.all([0, 1].map((index) => jsonUpstream(() => ++seen[index]!)))
  const app = await gateway({
    upstreams: { it: { origin: origins } },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' }, two: { upstream: 'it', path: '/' } } }],
  })
  for (let count = 0; count < 5; count++) await app.inject('/')
  expect(seen).toEqual([5, 5])
})

describe('the name of an origin', () => {
  it('fails the connection if it is unknown', async () => {
    const lookup: LookupFunction = (hostname, _, callback) =>
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }), '')
    const app = await gateway({
      upstreams: { it: { origin: 'http://nowhere.example', lookup } },
      endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' } } }],
    })
    const { statusCode, json } = await app.inject('/')
    expect([statusCode, json()]).toMatchObject([
      502,
      { code: 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED', message: 'The call "one" to it did not respond' },
    ])
  })

  it('is looked up again after the lifetime of a connection', async () => {
    // All of 127.0.0.0/8 is this machine, on Linux.
    const addresses = ['127.0.0.1', '127.0.0.2'] as const
    const port = await listening(addresses[0])
    await listening(addresses[1], port)
    let address: string = addresses[0]
    const lookup: LookupFunction = (_, { all }, callback) => {
      if (all) callback(null, [{ address, family: 4 }])
      else callback(null, address, 4)
    }
    const app = await gateway({
      upstreams: { it: { origin: `http://orders.example:${port}`, lookup, connectionTtl: 50 } },
      endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' } } }],
    })
    expect((await app.inject('/')).body).toBe('{"one":"127.0.0.1"}')
    address = addresses[1]
    await expect.poll(async () => (await app.inject('/')).body).toBe('{"one":"127.0.0.2"}')
  })
})

describe('an origin with a certificate of its own', () => {
  const pem = (name: string): Buffer => readFileSync(new URL(`../../fixtures/certificate/${name}.pem`, import.meta.url))
  const origin = async (): Promise<string> => {
    const server = createTlsServer({ key: pem('key'), cert: pem('certificate') }, (_, response) =>
      sendJson(response, '1'),
    )
    return `https://localhost:${await portOf(server, '127.0.0.1')}`
  }
  const call = { upstream: 'it', path: '/' }

  it('is trusted with its certificate authority', async () => {
    const upstreams = { it: { origin: await origin(), tls: { ca: pem('certificate') } } }
    const app = await gateway({ upstreams, endpoints: [{ path: '/', calls: { one: call } }] })
    expect((await app.inject('/')).body).toBe('{"one":1}')
  })

  it('is not trusted without it', async () => {
    const app = await gatewayOf(await origin(), { one: { path: '/' } })
    expect((await app.inject('/')).statusCode).toBe(502)
  })
})

/** A server that answers with its own address. */
function listening(address: string, port = 0): Promise<number> {
  return portOf(
    createServer((_, response) => sendJson(response, JSON.stringify(address))),
    address,
    port,
  )
}

async function portOf(
  server: Server & { closeAllConnections: () => void },
  address: string,
  port = 0,
): Promise<number> {
  server.listen(port, address)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
