// Data of the upstreams. It looks random, and is the same in every run.

import { createHash } from 'node:crypto'

const PARTS = ['profile', 'permissions', 'preferences', 'notifications', 'activity']

/** Number of items for a body of about 150 bytes, 2 kB and 20 kB. */
const ITEMS = { 150: 0, 2000: 18, 20000: 192 }

/** The JSON of each part in each size, by path, such as `/profile/150`. */
export const parts: ReadonlyMap<string, Buffer> = new Map(
  PARTS.flatMap((part) =>
    Object.entries(ITEMS).map(([size, count]): [string, Buffer] => [`/${part}/${size}`, json(partOf(part, count))]),
  ),
)

/** Responses to the calls of `dashboard.ts`, by the first segment of the path. The rest of the path is the key. */
export const resources: Record<'users' | 'orders' | 'invoices' | 'recommendations', (key: string) => unknown> = {
  users: (key) => ({ id: key, name: `User ${key}`, account: `account-${numberOf(key) % 1000}` }),
  orders: (key) => ({ items: [1, 2, 3].map((index) => itemOf(`order ${key} ${index}`)) }),
  invoices: (key) => ({ account: key, items: [1, 2].map((index) => itemOf(`invoice ${key} ${index}`)) }),
  recommendations: (key) => ({ items: [1, 2].map((index) => itemOf(`recommendation ${key} ${index}`)) }),
}

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

function partOf(part: string, count: number): unknown {
  const id = numberOf(part)
  const data = { status: 'success', message: `Response of ${part}`, value: id / 2 ** 32 }
  const items = Array.from({ length: count }, (_, index) => itemOf(`${part} ${index}`))
  return { id, name: part, timestamp: timeOf(id), data, ...(count > 0 && { items }) }
}

function itemOf(key: string): unknown {
  const id = numberOf(key)
  return { id, name: id.toString(36), active: id % 3 > 0, amount: (id % 100_000) / 100, updatedAt: timeOf(id) }
}

function timeOf(seed: number): string {
  return new Date(1_750_000_000_000 + (seed % 31_536_000) * 1000).toISOString()
}

function numberOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE()
}
