// Locks in Redis or Valkey, for many machines.

import { hash, randomUUID } from 'node:crypto'
import type { Send } from './redis-store.ts'
import { LEASE, type Lock, type Locks } from './store-contract.ts'

/** Both change a lock only if no other process has taken it meanwhile. */
const EXTEND = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])"
const RELEASE = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])"

/** Locks as keys that expire. */
export class RedisLocks implements Locks {
  readonly #send: Send
  readonly #prefix: string

  constructor(send: Send, prefix: string) {
    this.#send = send
    this.#prefix = prefix
  }

  async acquire(key: string): Promise<Lock | undefined> {
    const name = `${this.#prefix}lock:${hash('sha256', key)}`
    const token = randomUUID()
    const reply = await this.#send('SET', name, token, 'NX', 'PX', String(LEASE))
    if (reply !== 'OK') return undefined
    return {
      extend: async () => void (await this.#send('EVAL', EXTEND, '1', name, token, String(LEASE))),
      release: async () => void (await this.#send('EVAL', RELEASE, '1', name, token)),
    }
  }
}
