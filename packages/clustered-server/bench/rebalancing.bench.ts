import { type Load, excessConnections } from '../src/primary/excess-connections.ts'

// Decides whether the plan may be made at each check of the workers, some times a second, without being kept up to date.

/** Connections that differ between workers, without random numbers. */
const workers: readonly Load[] = Array.from({ length: 64 }, (_, worker) => ({
  connections: 100 + ((worker * 7919) % 97),
  utilization: ((worker * 31) % 100) / 100,
}))

export default {
  'what each gives away': () => excessConnections(workers),
  'each to the mean, by sorting': () => {
    const sorted = workers.toSorted((one, other) => other.connections - one.connections)
    const mean = sorted.reduce((sum, { connections }) => sum + connections, 0) / sorted.length
    return sorted.map(({ connections }) => Math.max(0, Math.floor(connections - mean)))
  },
}
