import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import Fastify from 'fastify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RecordedResponse, WriteMethods } from '../../../src/response-cache/recorder.ts'
import {
  readyResponse,
  type ReadyResponse,
  writeResponse,
  CAN_FRAME_CHUNKS,
  canFrameChunks,
} from '../../../src/response-cache/ready-response.ts'

const closing: (() => void)[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const close of closing.splice(0)) close()
})

/** What a server sends for a text, until the connection ends. */
async function sent(listener: RequestListener, text: string): Promise<string> {
  const server = createServer(listener)
  server.listen(0)
  await once(server, 'listening')
  closing.push(() => server.close())
  const socket = connect((server.address() as AddressInfo).port).setEncoding('latin1')
  let answer = ''
  socket.on('data', (part: string) => void (answer += part))
  socket.write(text)
  await once(socket, 'close')
  return answer.replaceAll(/\r\nDate: .*\r\n/g, '\r\nDate: -\r\n')
}

function recorded(body: Buffer, more: readonly string[] = [], status = 200): RecordedResponse {
  return { status, head: ['Vary', 'rsc, Accept-Encoding', 'ETag', '"a"', ...more], body }
}

const bodies: Record<string, Buffer> = {
  none: Buffer.alloc(0),
  'of one byte': Buffer.from('a'),
  'of every byte': Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  'that looks like the end of one': Buffer.from('\r\n0\r\n\r\n'),
  'as long as a string may be': randomBytes(10_200),
  'that is a little longer': randomBytes(10_240),
  'that is large': randomBytes(300_000),
}

const asked: Record<string, string> = {
  'HTTP/1.1': 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'HTTP/1.0': 'GET / HTTP/1.0\r\n\r\n',
  'HTTP/1.0 by a client that takes chunks': 'GET / HTTP/1.0\r\nTE: chunked\r\n\r\n',
  HEAD: 'HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'three at once': `${'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2)}GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
}

describe.each(Object.entries(bodies))('a body %s', (_, body) => {
  const heads: Record<string, readonly string[]> = {
    'without its length': [],
    'with its length': ['Content-Length', String(body.length)],
  }
  it.each(
    Object.entries(heads).flatMap(([head, more]) =>
      Object.entries(asked).map(([how, text]) => [head, how, more, text]),
    ),
  )('%s leaves as Node sends it: %s', async (_head, _how, more, text) => {
    const answer = recorded(body, more as string[])
    const byNode = await sent((_request, response) => {
      response.writeHead(answer.status, answer.head as string[])
      response.end(answer.body)
    }, text as string)
    const ready = readyResponse(answer)
    expect(await sent((_request, response) => writeResponse(response, ready), text as string)).toBe(byNode)
    // Not all at once, as when others of its turn come first.
    const later = async (response: ServerResponse): Promise<void> => {
      await endOfTurn()
      writeResponse(response, ready)
    }
    expect(await sent((_request, response) => void later(response), text as string)).toBe(byNode)
  })
})

it('writes a 304 without a body as Node does', async () => {
  const answer = recorded(Buffer.alloc(0), [], 304)
  const byNode = await sent((_request, response) => {
    response.writeHead(304, answer.head as string[])
    response.end()
  }, asked['HTTP/1.1']!)
  expect(await sent((_request, response) => writeResponse(response, readyResponse(answer)), asked['HTTP/1.1']!)).toBe(
    byNode,
  )
})

it('a small body without its length is written with its head, in one piece', async () => {
  expect(CAN_FRAME_CHUNKS).toBe(true)
  const pieces: unknown[] = []
  const ready = readyResponse(recorded(Buffer.from('a body')))
  await sent((_request, response) => {
    const write = response.socket!.write.bind(response.socket)
    vi.spyOn(response.socket!, 'write').mockImplementation((...all: Parameters<Socket['write']>) => {
      pieces.push(all[0])
      return write(...all)
    })
    writeResponse(response, ready)
  }, asked['HTTP/1.1']!)
  expect(pieces).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n6\r\na body\r\n0\r\n\r\n$/)])
})

describe('wrappers of the response see the body, not the chunk', () => {
  const ready = readyResponse(recorded(Buffer.from('a body')))

  it('a method that covers that of Node', async () => {
    const seen: unknown[] = []
    const answer = await sent((_request, response) => {
      const { end } = response as unknown as WriteMethods
      const covering: WriteMethods['end'] = (...all) => {
        seen.push(all[0])
        return end.apply(response, all)
      }
      Object.assign(response, { end: covering })
      writeResponse(response, ready)
    }, asked['HTTP/1.1']!)
    expect(seen).toEqual(['a body'])
    expect(answer).toMatch(/\r\n\r\n6\r\na body\r\n0\r\n\r\n$/)
  })

  it('a response of another class, as of `inject()`', async () => {
    const app = Fastify()
    app.get('/', (_request, reply) => {
      reply.hijack()
      writeResponse(reply.raw, ready)
    })
    const { body, headers } = await app.inject('/')
    expect([body, headers['transfer-encoding']]).toEqual(['a body', 'chunked'])
  })

  it('but nothing that came after the methods that are given', async () => {
    const seen: unknown[] = []
    await sent((_request, response) => {
      const { writeHead, end } = response as unknown as WriteMethods
      Object.assign(response, { end: (...all: unknown[]) => seen.push(all) })
      writeResponse(response, ready, { writeHead, end })
    }, asked['HTTP/1.1']!)
    expect(seen).toEqual([])
  })
})

describe('where Node does otherwise, that is seen', () => {
  class Patched extends ServerResponse {
    override assignSocket(): never {
      throw new Error('No client')
    }
  }
  const of = (descriptor: PropertyDescriptor): typeof ServerResponse =>
    class extends ServerResponse {
      constructor(...all: ConstructorParameters<typeof ServerResponse>) {
        super(...all)
        Object.defineProperty(this, 'chunkedEncoding', descriptor)
      }
    } as typeof ServerResponse

  it.each<[string, typeof ServerResponse, boolean]>([
    ['it writes what it is told to', ServerResponse, true],
    ['it does not tell of chunks', of({ get: () => undefined, set: () => undefined }), false],
    ['it has been changed, and does not take it', Patched as typeof ServerResponse, false],
    ['it cannot be told otherwise', of({ get: () => true, set: () => undefined }), false],
  ])('%s', (_, Response, expected) => {
    expect(canFrameChunks(Response)).toBe(expected)
  })
})

it('the body and the chunk are of the same bytes', () => {
  const { body, chunk } = readyResponse(recorded(randomBytes(20_000))) as ReadyResponse & {
    body: Buffer
    chunk: Buffer
  }
  expect(body.buffer).toBe(chunk.buffer)
})
