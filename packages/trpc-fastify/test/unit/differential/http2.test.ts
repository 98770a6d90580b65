import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { describe, it } from 'vitest'
import { compare, type Path } from '../../helpers/differential/compare.ts'
import { type Exchange } from '../../helpers/differential/exchange.ts'
import { echoMount, JSON_TYPE } from '../../helpers/differential/requests.ts'

async function exchange(app: FastifyInstance, headers: OutgoingHttpHeaders, body?: string): Promise<Exchange> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  const stream = session.request({ ':authority': 'localhost', ...headers })
  stream.setEncoding('latin1').end(body)
  let text = ''
  stream.on('data', (chunk: string) => (text += chunk))
  const [{ ':status': status = 0, ...got }] = (await once(stream, 'response')) as [Record<string, unknown>]
  if (!stream.closed) await once(stream, 'close')
  session.close()
  return { status: Number(status), headers: got, body: text }
}

const REQUESTS: readonly (readonly [name: string, headers: OutgoingHttpHeaders, on: Path, body?: string])[] = [
  ['a query', { ':path': '/trpc/query?input=1' }, 'compiled'],
  ['a failing query', { ':path': '/trpc/failing' }, 'compiled'],
  ['a batch', { ':path': '/trpc/query,failing,blind?batch=1&input={"0":1}' }, 'compiled'],
  ['a mutation', { ':method': 'POST', ':path': '/trpc/mutation', ...JSON_TYPE }, 'compiled', '{"a":1}'],
  ['no procedure', { ':path': '/trpc/unknown' }, 'procedure'],
  ['another scheme', { ':path': '/trpc/query', ':scheme': 'https' }, 'compiled'],
  ['another authority', { ':path': '/trpc/query', ':authority': 'example.com:8080' }, 'compiled'],
  ['an authority that is none', { ':path': '/trpc/query', ':authority': 'localhost:99999' }, 'host'],
  ['half an authority', { ':path': '/trpc/query', ':authority': '[::' }, 'host'],
  ['a host of its own', { ':path': '/trpc/query', ':authority': 'one.example', host: 'two.example' }, 'compiled'],
]

describe('over HTTP/2', () => {
  const comparison = compare((recorder) => echoMount(recorder), { fastify: { http2: true } as object })
  it.each(REQUESTS.map((request) => [request[0], request] as const))('%s', async (_name, [, headers, on, body]) => {
    await comparison.exchange((app) => exchange(app, headers, body), on)
  })
})
