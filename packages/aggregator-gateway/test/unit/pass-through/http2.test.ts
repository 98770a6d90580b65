// Clients of HTTP/2, with and without TLS: the same responses, and none of the headers that belong to a connection.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gatewayPlugin } from '../../../src/index.ts'
import { sendJson, upstream } from '../../helpers/servers.ts'

const pem = (name: string): string =>
  readFileSync(new URL(`../../fixtures/certificate/${name}.pem`, import.meta.url), 'utf8')

const CONNECTION_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection'] as const

/** An upstream of HTTP/1.1 that says much of its connections, and sends when it is told to. */
const talkative = async (): Promise<{
  origin: string
  send: (text: string, isEnd?: boolean) => void
  asked: () => number
}> => {
  let send: (text: string, isEnd?: boolean) => void = () => {}
  let asked = 0
  const origin = await upstream((request, response) => {
    asked++
    response.setHeader('keep-alive', 'timeout=5')
    if (request.url === '/json') return sendJson(response, '{"a":1}')
    response.setHeader('connection', 'keep-alive, x-mine').setHeader('x-mine', '1')
    response.setHeader('content-type', 'text/event-stream').flushHeaders()
    send = (text, isEnd) => void (isEnd ? response.end(text) : response.write(text))
  })
  return { origin, send: (text, isEnd) => send(text, isEnd), asked: () => asked }
}

interface Response {
  readonly headers: IncomingHttpHeaders
  readonly stream: ClientHttp2Stream
  readonly said: () => string
}

describe.each<[string, object, string]>([
  ['cleartext', { http2: true }, 'http'],
  ['TLS', { http2: true, https: { key: pem('key'), cert: pem('certificate') } }, 'https'],
])('over %s', (_, options, protocol) => {
  const before = async (
    origin: string,
  ): Promise<{
    ask: (headers: object, body?: Buffer) => Promise<Response>
    app: FastifyInstance
    warnings: Error[]
  }> => {
    const warnings: Error[] = []
    const note = (warning: Error): number => warnings.push(warning)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const app = Fastify({ ...options }) as unknown as FastifyInstance
    let session: ClientHttp2Session | undefined
    onTestFinished(async () => {
      session?.destroy()
      await app.close()
    })
    await app.register(gatewayPlugin, {
      upstreams: { it: origin },
      endpoints: [
        { path: '/json', calls: { one: { upstream: 'it', path: '/json' } } },
        {
          path: '/upload',
          method: 'POST',
          passThrough: { upstream: 'it', path: '/json', forwardBody: true },
          route: { bodyLimit: 1000 },
        },
        {
          path: '/early',
          method: 'POST',
          timeout: 60_000,
          passThrough: { upstream: 'it', path: '/events', forwardBody: true },
        },
        { path: '/:id', passThrough: { upstream: 'it', path: '/{params.id}', responseHeaders: ['x-mine'] } },
      ],
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    session = connect(`${protocol}://127.0.0.1:${(app.server.address() as AddressInfo).port}`, {
      rejectUnauthorized: false,
    })
    const ask = async (headers: object, body?: Buffer): Promise<Response> => {
      const stream = session.request({ ':path': '/', ...headers })
      if (body) stream.write(body)
      let text = ''
      stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      stream.on('error', () => {})
      const [answered] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      return { headers: answered, stream, said: () => text }
    }
    return { ask, app, warnings }
  }

  const hasNoneOfAConnection = ({ headers }: Response): void => {
    for (const name of CONNECTION_HEADERS) expect(headers).not.toHaveProperty(name)
  }

  it('an endpoint responds', async () => {
    const { origin } = await talkative()
    const { ask, warnings } = await before(origin)
    const answer = await ask({ ':path': '/json' })
    await expect.poll(() => answer.said()).toBe('{"one":{"a":1}}')
    hasNoneOfAConnection(answer)
    expect(warnings).toEqual([])
  })

  it('a stream has its head immediately, then data, then its end', async () => {
    const { origin, send } = await talkative()
    const { ask, warnings } = await before(origin)
    const answer = await ask({ ':path': '/events' })
    expect(answer.headers).toMatchObject({ ':status': 200, 'content-type': 'text/event-stream' })
    expect(answer.headers).not.toHaveProperty('x-mine')
    hasNoneOfAConnection(answer)
    expect(answer.said()).toBe('')
    send('data: 1\n\n')
    await expect.poll(() => answer.said()).toBe('data: 1\n\n')
    send('data: 2\n\n', true)
    if (!answer.stream.closed) await once(answer.stream, 'close')
    expect(answer.said()).toBe('data: 1\n\ndata: 2\n\n')
    expect(warnings).toEqual([])
  })

  it('a client that leaves a stream ends it, and others go on', async () => {
    let open = 0
    const origin = await upstream((_request, response) => {
      open++
      response.once('close', () => open--)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    })
    const { ask, warnings } = await before(origin)
    const [one, other] = [await ask({ ':path': '/events' }), await ask({ ':path': '/events' })]
    await expect.poll(() => other.said()).toBe('data: 1\n\n')
    one.stream.close()
    await expect.poll(() => open).toBe(1)
    expect(other.stream.closed).toBe(false)
    expect(warnings).toEqual([])
  })

  it.each<[string, object, Buffer, number]>([
    ['a body that is declared too large', { 'content-length': '5000' }, Buffer.alloc(100), 413],
    ['a body that grows too large', {}, Buffer.alloc(5000), 413],
  ])('%s is refused without a header of a connection', async (_title, headers, body, status) => {
    const { origin } = await talkative()
    const { ask, warnings } = await before(origin)
    const answer = await ask({ ':path': '/upload', ':method': 'POST', 'content-type': 'a/b', ...headers }, body)
    expect(answer.headers[':status']).toBe(status)
    hasNoneOfAConnection(answer)
    expect(warnings).toEqual([])
  })

  it('a response before the end of the body has no header of a connection', async () => {
    const { origin, send } = await talkative()
    const { ask, warnings } = await before(origin)
    const answer = await ask({ ':path': '/early', ':method': 'POST', 'content-type': 'a/b' }, Buffer.alloc(10))
    expect(answer.headers[':status']).toBe(200)
    hasNoneOfAConnection(answer)
    send('early', true)
    await expect.poll(() => answer.said()).toBe('early')
    expect(warnings).toEqual([])
  })

  it('a header beyond ASCII keeps its bytes', async () => {
    const value = Buffer.from('attachment; filename="日本.pdf"').toString('latin1')
    const origin = await upstream((_request, response) => {
      response.setHeader('content-length', 1)
      response.setHeader('etag', value)
      response.end('x')
    })
    const { ask } = await before(origin)
    const { headers } = await ask({ ':path': '/file' })
    // Node's client decodes them as Latin-1.
    expect(headers.etag).toBe(value)
  })
})
