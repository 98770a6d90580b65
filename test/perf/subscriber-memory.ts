// How much resident memory each subscriber adds to a server.
//
// Each process is read twice, with few subscribers and with many, so that its own memory does not count. Garbage is
// collected before each reading. Without that, V8 collects it after 10 to 25 seconds, or never in a fresh process.

import { setTimeout as sleep } from 'node:timers/promises'
import { startSubject } from '../running-subjects.ts'
import { ANY_INSPECTOR_PORT, type CollectGarbage, garbageCollectorOf } from './garbage-collector.ts'
import { residentMemory } from './resident-memory.ts'
import { type Subscription, Subscribers } from './subscribers.ts'

export interface MemoryOptions {
  readonly subscription: Subscription
  /** Subscribers at the first reading, and so many come and go before it: the warm-up. */
  readonly few: number
  /** Subscribers at the second reading. */
  readonly many: number
  /** Processes of each subject. */
  readonly replicas: number
}

/** How long V8 may take to give freed pages back, and a server to notice that its subscribers left, in milliseconds. */
const SETTLE = 500

interface Server {
  readonly name: string
  readonly pid: number
  readonly subscribers: Subscribers
  readonly collectGarbage: CollectGarbage
}

/**
 * Bytes per subscriber, one figure for each process of each subject. One process of each is read at a time:
 * all subscribers at once would be more sockets than some systems give. The processes are left running.
 */
export async function subscriberMemory(
  subjects: Readonly<Record<string, URL>>,
  { subscription, few, many, replicas }: MemoryOptions,
): Promise<Map<string, number[]>> {
  const figures = new Map(Object.keys(subjects).map((name): [string, number[]] => [name, []]))
  for (let replica = 0; replica < replicas; replica++) {
    const servers: Server[] = []
    for (const [name, file] of Object.entries(subjects)) {
      const server = await startServer(name, file, subscription)
      await server.subscribers.add(few)
      server.subscribers.leave()
      servers.push(server)
    }
    const before = await readWith(few, servers)
    const after = await readWith(many, servers)
    for (const [index, { name, subscribers }] of servers.entries()) {
      figures.get(name)!.push((after[index]! - before[index]!) / (many - few))
      subscribers.leave()
    }
  }
  return figures
}

async function startServer(name: string, file: URL, subscription: Subscription): Promise<Server> {
  const { child, port } = await startSubject(file, { nodeArgs: [ANY_INSPECTOR_PORT] })
  const collectGarbage = await garbageCollectorOf(child)
  return { name, pid: child.pid!, subscribers: new Subscribers(Number(port), subscription), collectGarbage }
}

/** Resident memory of each server with so many subscribers, in bytes. */
async function readWith(count: number, servers: readonly Server[]): Promise<number[]> {
  for (const { subscribers } of servers) await subscribers.add(count - subscribers.count)
  await sleep(SETTLE)
  for (const { collectGarbage } of servers) await collectGarbage()
  await sleep(SETTLE)
  return servers.map(({ name, pid, subscribers }) => {
    if (subscribers.count !== count) throw new Error(`${name} lost ${count - subscribers.count} subscribers`)
    return residentMemory(pid)
  })
}
