import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runInTurns } from '../../../src/load/autocannon/run-in-turns.ts'
import { runWorkload } from '../../../src/load/autocannon/run-workload.ts'
import type { LoadResult, TurnControl, Workload } from '../../../src/load/generator.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const NONE = { errors: 0, timeouts: 0, hanging: 0, unexpectedStatus: 0 }

/** A request, the number of its connection, and its own number on it, both from 1. */
interface Received {
  readonly socket: Socket
  readonly connection: number
  readonly request: number
}

/** A server that handles each request by a function, and the workload of these connections to it. */
async function workloadOn(
  onRequest: (received: Received) => void,
  changes: Partial<Workload> = {},
  connections = 4,
): Promise<Workload> {
  let count = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const connection = ++count
    let request = 0
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const _ of data.toString().matchAll(/\r\n\r\n/g)) onRequest({ socket, connection, request: ++request })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    ...{ origin: `http://127.0.0.1:${port}`, method: 'GET', path: '/', headers: {}, body: undefined, status: 200 },
    load: {
      ...{ generator: 'autocannon', busyPoll: 0, connections, pipelining: 1, duration: 100, amount: undefined },
      requestTimeout: 10_000,
    },
    ...{ lead: 0, inTurns: true },
    ...changes,
  }
}

async function turnsOf(workload: Workload): Promise<TurnControl> {
  const { promise, resolve } = Promise.withResolvers<TurnControl>()
  const ended = runInTurns(workload, resolve)
  const turns = await promise
  onTestFinished(async () => {
    turns.finish()
    await ended
  })
  return turns
}

/** Takes turns until there are many responses, and returns all failures. */
async function failuresOf(turns: TurnControl): Promise<LoadResult['failures']> {
  const total = { ...NONE }
  for (let right = 0; right <= 40;) {
    await turns.turn(100, true)
    const { responses, failures } = await turns.collect()
    right += responses
    for (const kind of Object.keys(NONE) as (keyof typeof NONE)[]) total[kind] += failures[kind]
  }
  return total
}

/** Responds a little later, so that a test process has time for its own work. */
const respond = ({ socket }: Received): void => void setTimeout(() => socket.write(OK), 1)

describe('connections without a response are counted', () => {
  /** A server whose first connection hangs from a time on, and whose second one breaks once, amid its requests. */
  const plan = { hangs: false, breaks: false, seen: 0 }
  const handle = (received: Received): void => {
    if (plan.hangs && received.connection === 1) return
    if (plan.breaks && received.connection === 2 && ++plan.seen === 3) {
      plan.breaks = false
      received.socket.resetAndDestroy()
    } else respond(received)
  }
  const set = (hangs: boolean, breaks: boolean): void => void Object.assign(plan, { hangs, breaks, seen: 0 })

  it('in turns, beside a connection that broke', async () => {
    set(false, false)
    const turns = await turnsOf(await workloadOn(handle))
    await turns.turn(50, false)
    set(true, true)
    expect(await turns.turn(200, true)).toMatchObject({ isComplete: false })
    expect((await turns.collect()).failures).toEqual({ ...NONE, errors: 1, hanging: 1 })
  })

  it('in turns, after a round with a connection that broke', async () => {
    set(false, true)
    const turns = await turnsOf(await workloadOn(handle))
    await turns.turn(200, true)
    expect((await turns.collect()).failures).toEqual({ ...NONE, errors: 1 })
    set(true, false)
    await turns.turn(50, true)
    expect((await turns.collect()).failures).toEqual({ ...NONE, hanging: 1 })
  })

  it('in a whole round, beside a connection that broke', async () => {
    set(false, false)
    const { load, ...workload } = await workloadOn(handle, { inTurns: false, lead: 50 })
    const result = (await runWorkload(
      { ...workload, load: { ...load, duration: 3000 } },
      { onBegin: () => set(true, true), onReady: () => {} },
    )) as LoadResult
    expect(result.failures).toEqual({ ...NONE, errors: 1, hanging: 1 })
  })
})

describe('a request on an idle connection that the server closes', () => {
  /** The end of a used connection, whose next request comes after a pause. */
  const ends = { end: respond, left: 0 }
  const handle = (received: Received): void => {
    if (ends.left > 0) {
      ends.left--
      ends.end(received)
    } else respond(received)
  }
  const close = ({ socket }: Received): void => void socket.end()
  const reset = ({ socket }: Received): void => void socket.resetAndDestroy()

  async function afterPause(
    end: (received: Received) => void,
    left: number,
    changes?: Partial<Workload>,
  ): Promise<TurnControl> {
    Object.assign(ends, { end, left: 0 })
    const turns = await turnsOf(await workloadOn(handle, changes))
    await turns.turn(50, false)
    await sleep(20)
    ends.left = left
    return turns
  }

  it.each([
    ['in order', close],
    ['by a reset', reset],
  ])('is sent again over a new connection: closed %s', async (_, end) => {
    const turns = await afterPause(end, 4)
    expect(await failuresOf(turns)).toEqual(NONE)
  })

  it('is sent again if the server closes all connections as the turn begins', async () => {
    const sockets = new Set<Socket>()
    const turns = await turnsOf(
      await workloadOn((received) => {
        sockets.add(received.socket)
        respond(received)
      }),
    )
    await turns.turn(50, false)
    const used = [...sockets]
    const turn = turns.turn(100, true)
    for (const socket of used) socket.destroy()
    await turn
    expect((await turns.collect()).failures).toEqual(NONE)
    expect(await failuresOf(turns)).toEqual(NONE)
    expect(sockets.size).toBe(2 * used.length)
  })

  it('makes the first turn of a round one that does not count', async () => {
    const turns = await afterPause(reset, 1)
    expect(await turns.turn(100, 'unless-reconnected')).toMatchObject({ reconnected: true })
    expect(await turns.collect()).toMatchObject({ responses: 0, failures: NONE })
    expect(await turns.turn(300, 'unless-reconnected')).toMatchObject({ reconnected: false })
    expect((await turns.collect()).responses).toBeGreaterThan(0)
  })

  it('fails if the new connection closes, too', async () => {
    const turns = await afterPause(close, 5)
    expect(await failuresOf(turns)).toEqual({ ...NONE, errors: 1 })
  })

  it.each(['POST', 'PATCH'])('fails if its method is not idempotent: %s', async (method) => {
    const turns = await afterPause(reset, 2, { method })
    expect(await failuresOf(turns)).toEqual({ ...NONE, errors: 2 })
  })

  it('fails if a part of the response came', async () => {
    const turns = await afterPause(({ socket }) => void socket.end('HTTP/1.1 200 OK\r\n'), 2)
    expect(await failuresOf(turns)).toEqual({ ...NONE, errors: 2 })
  })

  it('fails amid the requests of a turn', async () => {
    const workload = await workloadOn((received) => {
      if (received.connection === 1 && received.request === 4) close(received)
      else respond(received)
    })
    expect(await failuresOf(await turnsOf(workload))).toEqual({ ...NONE, errors: 1 })
  })
})
