import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range from which systems choose ports of outgoing connections: such a port stays free until it is used. */
const FIRST = 10_000
const LAST = 32_000
const ATTEMPTS = 100

/** A port that is free now, like the `count - 1` after it. */
export async function freePort(count = 1): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isFree(port + index)))
    if (free.every(Boolean)) return port
  }
  throw new Error(`no ${count} free ports in a row after ${ATTEMPTS} attempts`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
