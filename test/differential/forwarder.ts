import { type AddressInfo, connect, createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** Passes a request on to a server, and its answer back with a fault. Each connection has one request. */
export async function startForwarder(
  origin: string,
  fault: (answer: string, request: string) => string,
): Promise<string> {
  const { hostname, port } = new URL(origin)
  const server = createServer((socket) => {
    const upstream = connect(Number(port), hostname)
    let request = ''
    let answer = ''
    socket.on('data', (chunk) => {
      request += chunk.toString('latin1')
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => (answer += chunk.toString('latin1')))
    upstream.on('close', () => socket.end(Buffer.from(fault(answer, request), 'latin1')))
    for (const one of [socket, upstream]) one.on('error', () => undefined)
    socket.on('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
