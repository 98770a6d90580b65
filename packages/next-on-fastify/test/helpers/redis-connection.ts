// A connection of a test to its Redis.

import { createClient } from 'redis'
import { type Send, sendWithTimeout } from '../../src/shared-cache/redis-store.ts'

/** The used commands of a client. */
interface Client {
  keys(pattern: string): Promise<string[]>
  pTTL(key: string): Promise<number>
  ttl(key: string): Promise<number>
  exists(key: string): Promise<number>
  get(key: string): Promise<string | null>
  del(key: string): Promise<number>
}

export interface RedisConnection {
  readonly client: Client
  /** Sends commands as a shared cache does. */
  readonly send: Send
  close(): void
}

/** Connects to the Redis with that socket. */
export async function connectToRedis(path: string): Promise<RedisConnection> {
  const client = createClient({ socket: { path, reconnectStrategy: false } })
  await client.connect()
  const send = sendWithTimeout({ redis: (command) => client.sendCommand(command), timeout: 10_000 })
  return { client, send, close: () => client.destroy() }
}
