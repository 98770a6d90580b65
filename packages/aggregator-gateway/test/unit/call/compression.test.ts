import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { gatewayOf, upstream } from '../../helpers/servers.ts'

it.each<[string, (text: string) => Buffer]>([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['GZIP', gzipSync],
  ['identity', (text) => Buffer.from(text)],
])('an answer in %s is read', async (encoding, compress) => {
  const origin = await upstream((request, response) => {
    expect(request.headers['accept-encoding']).toBe('gzip, br')
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding })
      .end(compress('{"big":12345678901234567890}'))
  })
  const app = await gatewayOf(origin, { one: { path: '/', headers: { 'accept-encoding': 'gzip, br' } } })
  for (const _ of [1, 2]) expect((await app.inject('/')).body).toBe('{"one":{"big":12345678901234567890}}')
})

it('the request accepts no content encoding', async () => {
  const asked: unknown[] = []
  const origin = await upstream((request, response) => {
    asked.push(request.headers['accept-encoding'])
    response.writeHead(200, { 'content-type': 'application/json' }).end('1')
  })
  const app = await gatewayOf(origin, { one: { path: '/' } })
  await app.inject('/')
  expect(asked).toEqual([undefined])
})
