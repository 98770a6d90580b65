import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { RequestGate } from '../../../src/load/autocannon/request-gate.ts'

const SEND = '_doRequest'
const CONNECT = '_connect'

/** What is internal to autocannon's clients, as far as the gate uses it: they connect, and then send as often as they pipeline. */
class Client extends EventEmitter {
  sent = 0
  readonly pipelinedRequests = { cleared: 0, clear: () => void this.pipelinedRequests.cleared++ }
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

  answer(head: { shouldKeepAlive?: boolean } = { shouldKeepAlive: true }): void {
    this.emit('headers', head)
    this.emit('response')
    this[SEND]()
  }
}

/** A gate that has been open, and is closed. */
const shutGate = (clients: number): RequestGate => {
  const gate = new RequestGate(clients)
  gate.open()
  gate.close()
  return gate
}

it('nothing is sent while it is closed, and then what was held', () => {
  const gate = shutGate(2)
  const clients = [new Client(gate), new Client(gate, 3)]
  expect(clients.map(({ sent }) => sent)).toEqual([0, 0])
  expect(gate.pending).toBe(0)
  gate.open()
  expect(clients.map(({ sent }) => sent)).toEqual([1, 3])
  expect(gate.pending).toBe(4)
})

it('before it opens for the first time, each client asks once, and it tells when all have had their answer', async () => {
  const gate = new RequestGate(2)
  let areWelcomed = false
  void gate.allConnected.then(() => (areWelcomed = true))
  const [one, other] = [new Client(gate, 3), new Client(gate, 3)]
  expect([one.sent, other.sent, gate.pending]).toEqual([1, 1, 2])
  one.answer()
  await Promise.resolve()
  expect([one.sent, other.sent, gate.pending, areWelcomed]).toEqual([1, 1, 1, false])
  other.answer()
  await Promise.resolve()
  expect([one.sent, other.sent, gate.pending, areWelcomed]).toEqual([1, 1, 0, true])
  gate.open()
  expect([one.sent, other.sent, gate.pending]).toEqual([4, 4, 6])
})

it('a client whose connection ends before it had an answer asks again', () => {
  const gate = new RequestGate(1)
  const client = new Client(gate, 3)
  client[CONNECT]()
  expect([client.sent, gate.lost, gate.pending]).toEqual([2, 1, 1])
  client.answer()
  client[CONNECT]()
  expect([client.sent, gate.lost, gate.pending]).toEqual([2, 1, 0])
  gate.open()
  expect([client.sent, gate.pending]).toEqual([5, 3])
})

it('while it is open, every answer is followed by a request; once it is closed, by none until it opens again', () => {
  const gate = shutGate(2)
  const [one, other] = [new Client(gate), new Client(gate)]
  let idle = 0
  gate.open()
  one.answer()
  expect([one.sent, other.sent]).toEqual([2, 1])
  gate.close()
  gate.onIdle = () => idle++
  one.answer()
  expect([gate.pending, idle]).toEqual([1, 0])
  other.answer()
  expect([gate.pending, idle]).toEqual([0, 1])
  expect([one.sent, other.sent]).toEqual([2, 1])
  gate.open()
  expect([one.sent, other.sent]).toEqual([3, 2])
})

it('what is under way on a connection that ends is lost, and the next one has its own', () => {
  const gate = shutGate(1)
  const client = new Client(gate, 2)
  let idle = 0
  gate.open()
  client.answer()
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

it('over a connection that the server said it closes nothing is sent, and nothing is lost with it', () => {
  const gate = shutGate(1)
  const client = new Client(gate)
  gate.open()
  client.answer({ shouldKeepAlive: false })
  expect([client.sent, gate.pending]).toEqual([1, 0])
  client[CONNECT]()
  expect([client.sent, gate.pending, gate.lost]).toEqual([2, 1, 0])
  client.answer()
  expect(client.sent).toBe(3)
})

it('what was asked after the answer that the server said was the last is lost', () => {
  const gate = shutGate(1)
  const client = new Client(gate, 3)
  gate.open()
  client.answer({ shouldKeepAlive: false })
  expect([client.sent, gate.pending]).toEqual([3, 2])
  client[CONNECT]()
  expect([client.sent, gate.pending, gate.lost]).toEqual([6, 3, 2])
})

it('while it is closed, a connection that the server said it closes is followed by one that waits', () => {
  const gate = new RequestGate(1)
  const client = new Client(gate)
  client.answer({ shouldKeepAlive: false })
  client[CONNECT]()
  expect([client.sent, gate.pending, gate.lost]).toEqual([1, 0, 0])
  gate.open()
  expect([client.sent, gate.pending]).toEqual([2, 1])
})

it('a new connection has no requests of the one before', () => {
  const gate = shutGate(1)
  const client = new Client(gate)
  const { cleared } = client.pipelinedRequests
  client[CONNECT]()
  expect(client.pipelinedRequests.cleared).toBe(cleared + 1)
})

it('refuses clients that it does not know', () => {
  expect(() => new RequestGate(1).setupClient(new EventEmitter())).toThrow(
    /this version of autocannon is not supported/,
  )
})
