import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { awaitResponse, sendRequest } from '../../../src/subject/send-request.ts'

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const signal = new AbortController().signal

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

const echo = (): Server =>
  createServer((request, response) => {
    const { method, url, headers } = request
    response.setHeader('X-Many', ['1', '2'])
    void bodyOf(request).then((body) => response.end(JSON.stringify({ method, url, headers, body })))
  })

it.each(['GET', 'POST', 'DELETE', 'PROPFIND'])('sends %s with its body and length', async (method) => {
  const origin = await listening(echo())
  const { status, body } = await sendRequest(`${origin}/a?b=1`, { method, headers: { 'X-A': 'ä' }, body: 'é€', signal })
  expect(status).toBe(200)
  expect(JSON.parse(body.toString())).toMatchObject({
    ...{ method, url: '/a?b=1', body: 'é€' },
    headers: { 'content-length': '5', connection: 'close' },
  })
})

it('has repeated headers as one text, in lower case', async () => {
  const { headers } = await sendRequest(await listening(echo()), { signal })
  expect(headers['x-many']).toBe('1,2')
})

it('has the status and the body of an error, without following it', async () => {
  const origin = await listening(
    createServer((_, response) => response.writeHead(302, { location: '/other' }).end(Buffer.from([0, 255]))),
  )
  const { status, body } = await sendRequest(origin, { signal })
  expect([status, ...body]).toEqual([302, 0, 255])
})

it('closes its connection', async () => {
  const server = echo()
  const origin = await listening(server)
  await sendRequest(origin, { signal })
  await expect.poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0)
})

it.each<[problem: string, text: string]>([
  ['that ends before its body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
  ['that is no HTTP', 'hello\r\n\r\n'],
  ['that is empty', ''],
])('rejects a response %s', async (_, text) => {
  const origin = await listening(createTcpServer((socket) => void socket.on('error', () => {}).end(text)))
  await expect(sendRequest(origin, { signal })).rejects.toThrow(/\w/)
})

it('awaits the head of a response whose body never ends, and closes its connection', async () => {
  const server = createServer((_, response) => void response.write('data: 1\n\n'))
  const origin = await listening(server)
  await awaitResponse(origin, signal)
  await expect.poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0)
})

it('rejects with the reason of its signal', async () => {
  const origin = await listening(createTcpServer((socket) => void socket.on('error', () => {})))
  const reason = new Error('enough')
  const controller = new AbortController()
  const sent = sendRequest(origin, { signal: controller.signal })
  controller.abort(reason)
  await expect(sent).rejects.toBe(reason)
})
