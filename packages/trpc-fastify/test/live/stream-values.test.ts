// Values that were sent are released while their stream stays open, see https://github.com/trpc/trpc/issues/6156.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StreamValues } from '../fixtures/stream-values-server.ts'

const SUBSCRIBERS = 20
const STREAM = 'trpc-accept: application/jsonl'

/** Requests, with how many values each of them sends and then waits. */
const REQUESTS: [path: string, values: number, header?: string][] = [
  ['events', 3],
  ['trackedEvents', 3],
  ['laterEvents', 3],
  ['observedEvents', 3],
  ['yields?batch=1', 3, STREAM],
  ['gives,waits?batch=1', 1, STREAM],
  ['givesLater,waits?batch=1', 1, STREAM],
  ['promises,waits?batch=1', 2, STREAM],
  ['gives,givesLater,yields,promises,waits?batch=1', 7, STREAM],
]

describe.each(['no pings', 'pings'])('with %s', (pings) => {
  let server: ChildProcess
  let port: number
  beforeAll(async () => {
    const file = fileURLToPath(new URL('../fixtures/stream-values-server.ts', import.meta.url))
    server = fork(file, [pings], { execArgv: ['--expose-gc'] })
    ;[{ port }] = (await once(server, 'message')) as [{ port: number }]
  })
  afterAll(() => void server.kill('SIGKILL'))

  it.each(REQUESTS)('retains no value of %s', async (path, values, header = 'accept: */*') => {
    const sockets = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => listen(path, values, header)))
    server.send('how many?')
    const [count, alive] = ((await once(server, 'message')) as [StreamValues])[0]
    for (const socket of sockets) socket.destroy()
    expect([count, alive]).toEqual([values * SUBSCRIBERS, 0])
  })

  /** Opens a stream; done when it has sent so many values. */
  async function listen(path: string, values: number, header: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    socket.write(`GET /trpc/${path} HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n`)
    let read = ''
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: string) => {
        read += chunk
        if (read.split('"text"').length > values) resolve()
      })
    })
    return socket
  }
})
