import type { Claim } from '../src/options/resolved.ts'
import { readTree } from '../src/platform/tree-usage.ts'
import type { Round } from '../src/statistics/measured-round.ts'
import { judge } from '../src/statistics/verdict.ts'

// Both run between two rounds, when nothing is measured.

const SUBJECTS = ['fastify', 'express']
const REPLICAS = 10
const CYCLES = 6

const claim: Claim = {
  contender: 'fastify',
  over: 'express',
  atLeast: 1.5,
  case: 'GET /',
  metrics: ['cpu', 'throughput'],
  alpha: 0.01,
  budget: 60_000,
}

/** Differences of a few percent that need no random numbers. */
const wobble = (value: number): number => 1 + 0.03 * Math.sin(value * 12.9898)

const rounds = Array.from({ length: CYCLES }, (_, cycle) =>
  SUBJECTS.flatMap((subject, index) =>
    Array.from({ length: REPLICAS }, (__, replica): Round => {
      const cost = (20 + 15 * index) * wobble(replica + 100 * index) * wobble(cycle * REPLICAS + replica)
      return {
        stage: 1,
        cycle: cycle + 1,
        subject,
        replica: replica + 1,
        case: 'GET /',
        bottleneck: 'server',
        responses: 200_000 / cost,
        failures: 0,
        elapsed: 200,
        cpu: cost,
        throughput: 1e6 / cost,
        p50: cost / 20,
        p90: cost / 15,
        p99: cost / 10,
        rss: 80e6,
        peakRss: 90e6,
        serverUtilization: 0.99,
        generatorUtilization: 0.6,
        generatorCpu: 15 * wobble(cycle + 7 * replica),
        foreignCpu: 0.01,
      }
    }),
  ),
).flat()

export default {
  'a look at the data: 2 subjects, 10 processes each, 6 cycles, 2 metrics': { judge: () => judge(claim, rounds) },
  'a reading of a process tree: this process': { readTree: () => readTree(process.pid) },
}
