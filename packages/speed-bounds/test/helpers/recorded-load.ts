import { readFileSync } from 'node:fs'
import type { LoadPhase, LoadReport } from '../../src/index.ts'

/** Six rates of a server on a busy machine, as `speed-bounds load --json` has written them. */
export function measuredLoad(): LoadReport {
  return JSON.parse(readFileSync(new URL('../fixtures/load.json', import.meta.url), 'utf8')) as LoadReport
}

export const phase: LoadPhase = {
  load: '50%',
  rate: { from: 2000, to: 2000 },
  duration: 10_000,
  responses: 20_000,
  throughput: 1999.6,
  failures: { errors: 0, timeouts: 0, unexpectedStatus: 0 },
  latency: { mean: 0.6, p50: 0.512, p90: 0.9, p95: 1.1, p99: 2.34, max: 12.5, percentiles: [[50, 0.512]] },
  server: { cpu: 34.5, utilization: 0.4, rss: 80e6, peakRss: 90e6, foreignCpu: 0.1 },
  generator: { utilization: 0.2, lateness: 0.05, connections: 12 },
  limitedBy: 'latency',
}

export function recordedLoad(changes: Partial<LoadReport> = {}): LoadReport {
  return {
    version: 1,
    kind: 'load',
    startedAt: '2026-11-27T10:00:00.000Z',
    finishedAt: '2026-11-27T10:01:00.000Z',
    environment: {
      ...{ cpu: 'AMD EPYC', cores: 2, memory: 4e9, system: 'Linux 6.18', arch: 'x64', node: 'v24.21.0' },
      ...{ commit: null, ci: false, packages: {} },
    },
    subject: 'node server.ts',
    request: { protocol: 'http1', method: 'GET', path: '/' },
    load: { kind: 'rate', connections: 1000, keepAlive: true, pause: null, warmUp: 2000, requestTimeout: 10_000 },
    ceiling: { rate: 4000, users: 64, limitedBy: 'server' },
    phases: [phase],
    total: null,
    ...changes,
  }
}
