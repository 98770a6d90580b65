import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { RequestGate } from '../../../src/load/autocannon/request-gate.ts'

const SEND = '_doRequest'
const CONNECT = '_connect'

/** The internals of autocannon's clients that the gate uses. They connect, and then send as often as they pipeline. */
class Client extends EventEmitter {
  sent = 0
  readonly pipelinedRequests = { cleared: 0, clear: () => void this.pipelinedRequests.cleared++, peek: () => undefined }
  readonly #pipelining: number

  constructor(gate: RequestGate, pipelining = 1) {
    super()
    this.#pipelining = pipelining
    gate.setupClient(this)
    this[CONNECT]()
  }

  [CONNECT](): void {
    for (let count = 0; count < this.#pipelining; count++) this[SEND]()
  }

  [SEND](): void {
    this.sent++
  }

  respond(head: { shouldKeepAlive?: boolean } = { shouldKeepAlive: true }): void {
    this.emit('headers', head)
    this.emit('response')
    this[SEND]()
  }
}

/** A gate that was open, and is closed. */
const shutGate = (clients: number): RequestGate => {
  const gate = new RequestGate(clients, 'GET')
  gate.open()
  gate.close()
  return gate
}

it('a closed gate holds requests, and sends them when it opens', () => {
  const gate = shutGate(2)
  const clients = [new Client(gate), new Client(gate, 3)]
  expect(clients.map(({ sent }) => sent)).toEqual([0, 0])
  expect(gate.pending).toBe(0)
  gate.open()
  expect(clients.map(({ sent }) => sent)).toEqual([1, 3])
  expect(gate.pending).toBe(4)
})

it('before it first opens, each client sends one request, and allConnected resolves after all responses', async () => {
  const gate = new RequestGate(2, 'GET')
  let areWelcomed = false
  void gate.allConnected.then(() => (areWelcomed = true))
  const [one, other] = [new Client(gate, 3), new Client(gate, 3)]
  expect([one.sent, other.sent, gate.pending]).toEqual([1, 1, 2])
  one.respond()
  await Promise.resolve()
  expect([one.sent, other.sent, gate.pending, areWelcomed]).toEqual([1, 1, 1, false])
  other.respond()
  await Promise.resolve()
  expect([one.sent, other.sent, gate.pending, areWelcomed]).toEqual([1, 1, 0, true])
  gate.open()
  expect([one.sent, other.sent, gate.pending]).toEqual([4, 4, 6])
})

it('a client that loses its connection before the first response sends a request again', () => {
  const gate = new RequestGate(1, 'GET')
  const client = new Client(gate, 3)
  client[CONNECT]()
  expect([client.sent, gate.lost, gate.pending]).toEqual([2, 1, 1])
  client.respond()
  client[CONNECT]()
  expect([client.sent, gate.lost, gate.pending]).toEqual([2, 1, 0])
  gate.open()
  expect([client.sent, gate.pending]).toEqual([5, 3])
})

it('an open gate lets a request follow each response, a closed one holds it', () => {
  const gate = shutGate(2)
  const [one, other] = [new Client(gate), new Client(gate)]
  let idle = 0
  gate.open()
  one.respond()
  expect([one.sent, other.sent]).toEqual([2, 1])
  gate.close()
  gate.onIdle = () => idle++
  one.respond()
  expect([gate.pending, idle]).toEqual([1, 0])
  other.respond()
  expect([gate.pending, idle]).toEqual([0, 1])
  expect([one.sent, other.sent]).toEqual([2, 1])
  gate.open()
  expect([one.sent, other.sent]).toEqual([3, 2])
})

it('pending requests of a connection that ends are lost, and the next connection has its own', () => {
  const gate = shutGate(1)
  const client = new Client(gate, 2)
  let idle = 0
  gate.open()
  client.respond()
  gate.close()
  gate.onIdle = () => idle++
  client[CONNECT]()
  expect([gate.lost, gate.pending, idle]).toEqual([2, 0, 1])
  // It connects again before anything could be sent.
  client[CONNECT]()
  expect([gate.lost, gate.pending]).toEqual([2, 0])
  gate.open()
  expect([client.sent, gate.pending]).toEqual([5, 2])
})

it('no request is sent or lost on a connection that the server announces to close', () => {
  const gate = shutGate(1)
  const client = new Client(gate)
  gate.open()
  client.respond({ shouldKeepAlive: false })
  expect([client.sent, gate.pending]).toEqual([1, 0])
  client[CONNECT]()
  expect([client.sent, gate.pending, gate.lost]).toEqual([2, 1, 0])
  client.respond()
  expect(client.sent).toBe(3)
})

it('pipelined requests after the announced last response are lost', () => {
  const gate = shutGate(1)
  const client = new Client(gate, 3)
  gate.open()
  client.respond({ shouldKeepAlive: false })
  expect([client.sent, gate.pending]).toEqual([3, 2])
  client[CONNECT]()
  expect([client.sent, gate.pending, gate.lost]).toEqual([6, 3, 2])
})

it('a closed gate holds the requests of a connection that replaces a closed one', () => {
  const gate = new RequestGate(1, 'GET')
  const client = new Client(gate)
  client.respond({ shouldKeepAlive: false })
  client[CONNECT]()
  expect([client.sent, gate.pending, gate.lost]).toEqual([1, 0, 0])
  gate.open()
  expect([client.sent, gate.pending]).toEqual([2, 1])
})

it('a new connection clears the queue of the old one', () => {
  const gate = shutGate(1)
  const client = new Client(gate)
  const { cleared } = client.pipelinedRequests
  client[CONNECT]()
  expect(client.pipelinedRequests.cleared).toBe(cleared + 1)
})

it('rejects clients of an unknown autocannon', () => {
  expect(() => new RequestGate(1, 'GET').setupClient(new EventEmitter())).toThrow(
    /this version of autocannon is not supported/,
  )
})

it('a request on an idle connection that ends is sent again once, if its method is idempotent', () => {
  for (const [method, retried, lost] of [
    ['GET', 1, 0],
    ['POST', 0, 1],
  ] as const) {
    const gate = new RequestGate(1, method)
    const client = new Client(gate)
    client.respond()
    gate.open()
    expect([client.sent, gate.pending]).toEqual([2, 1])
    client.emit('connError')
    expect(gate.isRetrying).toBe(method === 'GET')
    client[CONNECT]()
    expect([gate.retried, gate.lost, client.sent, gate.pending, gate.isRetrying]).toEqual([retried, lost, 3, 1, false])
    // The new connection has not been idle.
    client[CONNECT]()
    expect([gate.retried, gate.lost]).toEqual([retried, lost + 1])
  }
})

it('counts connections that end without notice, but not those that the server announced as the last', () => {
  const gate = new RequestGate(1, 'GET')
  const client = new Client(gate)
  client.respond({ shouldKeepAlive: false })
  client[CONNECT]()
  expect(gate.reconnects).toBe(0)
  gate.open()
  client.respond()
  client[CONNECT]()
  expect(gate.reconnects).toBe(1)
})

it('tells when a client connects again', () => {
  const gate = new RequestGate(1, 'GET')
  const clients: unknown[] = []
  gate.onReconnect = (client) => clients.push(client)
  const client = new Client(gate)
  expect(clients).toEqual([])
  client[CONNECT]()
  expect(clients).toEqual([client])
})

it('requests that were pending when the gate opened are stuck until they have a response or are lost', () => {
  const gate = shutGate(2)
  const [one, other] = [new Client(gate), new Client(gate)]
  gate.open()
  expect(gate.stuck).toBe(0)
  gate.close()
  gate.open()
  expect(gate.stuck).toBe(2)
  one.respond()
  expect(gate.stuck).toBe(1)
  other[CONNECT]()
  expect([gate.stuck, gate.pending]).toEqual([0, 2])
})
