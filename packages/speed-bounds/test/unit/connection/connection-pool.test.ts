import { expect, it } from 'vitest'
import type { Connection, OnEnd } from '../../../src/connection/connection.ts'
import { ConnectionPool } from '../../../src/connection/connection-pool.ts'

class FakeConnection implements Connection {
  readonly pending: OnEnd[] = []
  isOpen = true
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get free(): number {
    return this.isOpen ? this.#capacity - this.pending.length : 0
  }

  send(onEnd: OnEnd): () => void {
    this.pending.push(onEnd)
    return () => void this.pending.splice(this.pending.indexOf(onEnd), 1)
  }

  close(): void {
    this.isOpen = false
  }

  respond(): void {
    this.pending.shift()!(200)
  }
}

function poolOf(limit: number, { capacity = 1, keepAlive = true } = {}) {
  const connections: FakeConnection[] = []
  const pool = new ConnectionPool(
    () => {
      const connection = new FakeConnection(capacity)
      connections.push(connection)
      return connection
    },
    { limit, keepAlive },
  )
  const ended: number[] = []
  const send = (number: number): (() => void) => pool.send(() => ended.push(number))
  return { pool, connections, ended, send }
}

it('opens connections up to the limit, and sends waiting requests in their order', () => {
  const { pool, connections, ended, send } = poolOf(2)
  for (const number of [0, 1, 2, 3, 4]) send(number)
  expect(connections).toHaveLength(2)
  connections[1]!.respond()
  connections[1]!.respond()
  connections[0]!.respond()
  connections[0]!.respond()
  connections[1]!.respond()
  expect(ended).toEqual([1, 2, 0, 4, 3])
  expect(pool.readPeak()).toBe(2)
})

it('uses the connection that became free last', () => {
  const { connections, send } = poolOf(3)
  for (const number of [0, 1, 2]) send(number)
  for (const index of [2, 0, 1]) connections[index]!.respond()
  send(3)
  expect(connections[1]!.pending).toHaveLength(1)
})

it('opens another connection in place of a closed one', () => {
  const { connections, ended, send } = poolOf(1)
  send(0)
  connections[0]!.respond()
  connections[0]!.close()
  send(1)
  expect(connections).toHaveLength(2)
  send(2)
  connections[1]!.close()
  connections[1]!.respond()
  expect(connections).toHaveLength(3)
  connections[2]!.respond()
  expect(ended).toEqual([0, 1, 2])
})

it('does not send a waiting request that was canceled', () => {
  const { connections, ended, send } = poolOf(1)
  send(0)
  send(1)()
  send(2)
  connections[0]!.respond()
  connections[0]!.respond()
  expect(ended).toEqual([0, 2])
})

it('sends a waiting request when a canceled one leaves its connection', () => {
  const { connections, ended, send } = poolOf(1)
  const cancel = send(0)
  send(1)
  cancel()
  connections[0]!.respond()
  expect(ended).toEqual([1])
})

it('fills a connection with room for several requests before it opens another one', () => {
  const { connections, send } = poolOf(5, { capacity: 3 })
  for (let number = 0; number < 7; number++) send(number)
  expect(connections.map(({ pending }) => pending.length)).toEqual([3, 3, 1])
  connections[0]!.respond()
  send(7)
  send(8)
  send(9)
  expect(connections.map(({ pending }) => pending.length)).toEqual([3, 3, 3])
})

it('uses a connection once without keep-alive', () => {
  const { connections, ended, send } = poolOf(1, { keepAlive: false, capacity: 3 })
  for (const number of [0, 1, 2]) send(number)
  for (const index of [0, 1, 2]) connections[index]!.respond()
  expect(ended).toEqual([0, 1, 2])
  expect(connections.map(({ isOpen }) => isOpen)).toEqual([false, false, false])
})

it('keeps the order of thousands of waiting requests', () => {
  const { connections, ended, send } = poolOf(1)
  const numbers = Array.from({ length: 5000 }, (_, number) => number)
  for (const number of numbers) send(number)
  for (const _ of numbers) connections[0]!.respond()
  expect(ended).toEqual(numbers)
})
