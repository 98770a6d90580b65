import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { Gate } from '../../src/generators/gate.ts'

const SEND = '_doRequest'
const CONNECT = '_connect'

/** What is internal to autocannon's clients, as far as the gate uses it: they connect, and then send as often as they pipeline. */
class Client extends EventEmitter {
  sent = 0
  readonly #pipelining: number

  constructor(gate: Gate, pipelining = 1) {
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

  answer(): void {
    this.emit('response')
    this[SEND]()
  }
}

it('nothing is sent before it opens, and then what was held', () => {
  const gate = new Gate()
  const clients = [new Client(gate), new Client(gate, 3)]
  expect(clients.map(({ sent }) => sent)).toEqual([0, 0])
  expect(gate.underWay).toBe(0)
  gate.open()
  expect(clients.map(({ sent }) => sent)).toEqual([1, 3])
  expect(gate.underWay).toBe(4)
})

it('while it is open, every answer is followed by a request; once it is closed, by none until it opens again', () => {
  const gate = new Gate()
  const [one, other] = [new Client(gate), new Client(gate)]
  let idle = 0
  gate.open()
  one.answer()
  expect([one.sent, other.sent]).toEqual([2, 1])
  gate.close()
  gate.onIdle = () => idle++
  one.answer()
  expect([gate.underWay, idle]).toEqual([1, 0])
  other.answer()
  expect([gate.underWay, idle]).toEqual([0, 1])
  expect([one.sent, other.sent]).toEqual([2, 1])
  gate.open()
  expect([one.sent, other.sent]).toEqual([3, 2])
})

it('what is under way on a connection that ends is lost, and the next one has its own', () => {
  const gate = new Gate()
  const client = new Client(gate, 2)
  let idle = 0
  gate.open()
  client.answer()
  gate.close()
  gate.onIdle = () => idle++
  client[CONNECT]()
  expect([gate.lost, gate.underWay, idle]).toEqual([2, 0, 1])
  // It connects again before anything could be sent.
  client[CONNECT]()
  expect([gate.lost, gate.underWay]).toEqual([2, 0])
  gate.open()
  expect([client.sent, gate.underWay]).toEqual([5, 2])
})

it('refuses clients that it does not know', () => {
  expect(() => new Gate().setupClient(new EventEmitter())).toThrow(/this version of autocannon cannot be held back/)
})
