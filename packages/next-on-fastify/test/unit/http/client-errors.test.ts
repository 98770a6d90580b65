import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { once } from 'node:events'
import { createNextOnFastify } from 'next-on-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { standInApp } from '../../helpers/stand-in.ts'

/** Sends bytes, and returns all that comes until the connection ends. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let received = ''
  socket.on('data', (part: string) => void (received += part)).on('error', () => {})
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return received
}

/** Ports of the factory's server and of a server of Node, which `next start` uses. */
async function ports(): Promise<{ ours: number; node: number }> {
  const app = await createNextOnFastify({ dir: standInApp(), dev: true, fastify: { logger: false } })
  const server = createServer()
  onTestFinished(async () => {
    await app.close()
    server.close()
  })
  app.get('/begun', (_request, reply) => {
    reply.hijack()
    reply.raw.write('begun')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { ours: (app.server.address() as AddressInfo).port, node: (server.address() as AddressInfo).port }
}

describe('a request that Node cannot parse', () => {
  const rest = ' HTTP/1.1\r\nhost: a\r\n\r\n'
  it.each([
    ['raw UTF-8 in its path', `GET /caf\u00c3\u00a9${rest}`, 400],
    ['raw Latin-1 in its path', `GET /caf\u00e9${rest}`, 400],
    ['raw bytes in its query', `GET /?name=\u00e9${rest}`, 400],
    ['raw bytes, by HEAD', `HEAD /caf\u00e9${rest}`, 400],
    ['a space in its path', `GET /a b${rest}`, 400],
    ['too many headers', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('with %s gets the response of `next start`', async (_, bytes, status) => {
    const { ours, node } = await ports()
    const expected = await exchange(node, bytes)
    expect(expected).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(await exchange(ours, bytes)).toBe(expected)
  })

  it('does not end up in a response that has begun', async () => {
    const { ours } = await ports()
    const received = await exchange(ours, `GET /begun${rest}GET /caf\u00e9${rest}`)
    expect(received).not.toContain('400')
  })

  it('leaves the server to others', async () => {
    const { ours } = await ports()
    await exchange(ours, `GET /\u00e9${rest}`)
    const [response] = (await once(request({ port: ours, path: '/page', agent: false }).end(), 'response')) as [
      { statusCode: number; resume: () => void },
    ]
    response.resume()
    expect(response.statusCode).toBe(200)
  })
})
