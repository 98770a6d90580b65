import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Duplex } from 'node:stream'
import zlib from 'node:zlib'
import { expect, describe, it, onTestFinished } from 'vitest'
import { createCompression } from '../../../src/compression/compression.ts'
import type { Zlib } from '../../../src/compression/encoders.ts'

const OPTIONS = { encodings: ['zstd', 'br'], brotliQuality: 4, zstdLevel: 3, windowBits: 18 } as const
const LONG = 'compressible '.repeat(1000)

const DECODERS = {
  br: zlib.createBrotliDecompress,
  deflate: zlib.createInflate,
  gzip: zlib.createGunzip,
  zstd: zlib.createZstdDecompress,
} as const
type Encoding = keyof typeof DECODERS
const ENCODINGS = Object.keys(DECODERS) as Encoding[]

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Sends a request to a server whose responses are compressed. */
async function ask(handler: Handler, headers: IncomingHttpHeaders = {}, method = 'GET', from?: Zlib) {
  const compression = createCompression(OPTIONS, { warn: () => {} }, from)
  const isText = (_request: IncomingMessage, response: ServerResponse): boolean =>
    String(response.getHeader('content-type')).startsWith('text/')
  const compress = compression.middleware(isText)
  const server = createServer((received, response) => compress(received, response, () => handler(received, response)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const sent = request({ port: (server.address() as AddressInfo).port, method, headers, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const encoding = response.headers['content-encoding'] as Encoding | undefined
  const body: Duplex | IncomingMessage =
    encoding && encoding in DECODERS ? response.pipe(DECODERS[encoding]()) : response
  return { sent, response, body, headers: response.headers }
}

const sends =
  (body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Handler =>
  (_request, response) => {
    response.statusCode = status
    for (const [name, value] of Object.entries({ 'content-type': 'text/html', ...headers }))
      response.setHeader(name, value)
    response.end(body)
  }

describe.each(ENCODINGS)('by %s', (encoding) => {
  const accepts = { 'accept-encoding': encoding }

  it('sends the same body, with a weak tag, without a length', async () => {
    const own = { etag: '"a"', 'content-length': String(LONG.length), 'x-own': 'yes', vary: 'rsc' }
    const { headers, body, response } = await ask(sends(LONG, own), accepts)
    expect(headers).toMatchObject({
      'content-encoding': encoding,
      etag: 'W/"a"',
      vary: 'rsc, Accept-Encoding',
      'x-own': 'yes',
    })
    expect(headers).not.toHaveProperty('content-length')
    let bytes = 0
    response.on('data', (piece: Buffer) => void (bytes += piece.length))
    expect(await text(body)).toBe(LONG)
    expect(bytes).toBeLessThan(1000)
  })

  it('delivers each chunk before the next one is written', async () => {
    let write = (_chunk: string): void => {}
    const { body } = await ask((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.write('first')
      write = (chunk) => void response.write(chunk)
      onTestFinished(() => void response.end())
    }, accepts)
    let decoded = ''
    body.on('data', (part: Buffer) => void (decoded += part.toString()))
    await expect.poll(() => decoded).toBe('first')
    write('second')
    await expect.poll(() => decoded).toBe('firstsecond')
  })

  it('releases the encoder of a client that disconnects', async () => {
    const streams: Duplex[] = []
    const record = <Stream extends Duplex>(stream: Stream): Stream => {
      streams.push(stream)
      return stream
    }
    const from = {
      createBrotliCompress: (options: zlib.BrotliOptions) => record(zlib.createBrotliCompress(options)),
      createDeflate: () => record(zlib.createDeflate()),
      createGzip: () => record(zlib.createGzip()),
      createZstdCompress: (options: zlib.ZstdOptions) => record(zlib.createZstdCompress(options)),
    } as Zlib
    const { sent, body } = await ask(
      (_request, response) => {
        response.setHeader('content-type', 'text/html')
        response.write(LONG)
      },
      accepts,
      'GET',
      from,
    )
    await once(body, 'data')
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([false])
    sent.destroy()
    await expect.poll(() => streams.map(({ destroyed }) => destroyed)).toEqual([true])
  })
})

it('writes no more than a slow client reads, and all of it in the end', async () => {
  const chunk = 64 * 1024
  const total = 200
  let written = 0
  const { body } = await ask(
    (_request, response) => {
      response.setHeader('content-type', 'text/html')
      const more = (): void => {
        while (written < total) {
          written++
          // Random bytes don't become smaller.
          if (!response.write(crypto.getRandomValues(new Uint8Array(chunk)))) return
        }
        response.end()
      }
      response.on('drain', () => void (written < total ? more() : response.end()))
      more()
    },
    { 'accept-encoding': 'zstd' },
  )
  let before = -1
  await expect
    .poll(
      () => {
        const isStill = before === written
        before = written
        return isStill
      },
      { interval: 300 },
    )
    .toBe(true)
  expect(written).toBeLessThan(total / 2)
  let bytes = 0
  for await (const part of body) bytes += (part as Buffer).length
  expect(bytes).toBe(total * chunk)
})

describe('leaves unchanged', () => {
  const accepts = { 'accept-encoding': 'gzip, deflate, br, zstd' }

  it.each<[string, Handler, boolean]>([
    ['a body of less than 1 KiB', sends('short'), true],
    ['an empty body', (_request, response) => void response.setHeader('content-type', 'text/html').end(), true],
    ['an encoded body', sends(zlib.gzipSync(LONG), { 'content-encoding': 'gzip' }), true],
    ['an encoded body of an unknown encoding', sends(LONG, { 'content-encoding': 'x-own' }), true],
    ['a part of a body', sends(LONG, { 'content-range': 'bytes 0-12999/20000' }, 206), true],
    ['a type that is compressed already', sends(LONG, { 'content-type': 'image/png' }), false],
    ['events', sends(LONG, { 'content-type': 'text/event-stream; charset=utf-8' }), true],
    ['a body that nobody may transform', sends(LONG, { 'cache-control': 'public, No-Transform' }), false],
    ['204', sends('', {}, 204), true],
    ['304', sends('', { etag: '"a"' }, 304), true],
  ])('%s', async (_name, handler, varies) => {
    const changed = await ask(handler, accepts)
    const plain = await ask(handler)
    const { vary, date: _, ...headers } = changed.headers
    const { vary: __, date: ___, ...plainHeaders } = plain.headers
    expect([headers, vary]).toEqual([plainHeaders, varies ? 'Accept-Encoding' : undefined])
    expect(await text(changed.body)).toBe(await text(plain.body))
  })

  it('HEAD', async () => {
    const { headers } = await ask(sends(LONG, { 'content-length': '13000', etag: '"a"' }), accepts, 'HEAD')
    expect(headers).toMatchObject({ 'content-length': '13000', etag: '"a"', vary: 'Accept-Encoding' })
    expect(headers).not.toHaveProperty('content-encoding')
  })
})

it('takes encodings and callbacks as Node does', async () => {
  const done: string[] = []
  const { body } = await ask(
    (_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.write('ff', 'latin1', () => void done.push('written'))
      response.end('00', 'hex', () => void done.push('ended'))
      response.end('more')
      expect(response.write('more')).toBe(false)
    },
    { 'accept-encoding': 'br' },
  )
  expect(await text(body)).toBe('ff\0')
  await expect.poll(() => done).toEqual(['written', 'ended'])
})

it('ends a response that has failed without a whole body', async () => {
  let fail = (): void => {}
  const { body, response } = await ask(
    (_request, failing) => {
      failing.setHeader('content-type', 'text/html')
      failing.write(LONG)
      fail = () => failing.destroy(new Error('The page has failed'))
    },
    { 'accept-encoding': 'zstd' },
  )
  await once(body, 'data')
  fail()
  await once(response, 'error')
  expect(response.complete).toBe(false)
})

it('without zstd in Node, warns once and sends brotli', async () => {
  const warnings: string[] = []
  const { createZstdCompress: _, ...without } = zlib
  const { negotiate } = createCompression(OPTIONS, { warn: (message: string) => void warnings.push(message) }, without)
  expect(negotiate('zstd, br')).toBe('br')
  expect(negotiate('zstd')).toBeUndefined()
  expect(warnings).toEqual([
    `responses are not compressed by zstd: Node ${process.version} has no zstd, use 22.15 or newer`,
  ])
})
