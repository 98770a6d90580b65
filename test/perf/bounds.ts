import type { Metric } from 'speed-bounds'

/** A claim of the product: the contender is at least `atLeast` times as good as the other. */
export interface Bound {
  contender: string
  over: string
  atLeast: number
  metric?: Metric
}

/**
 * Every bound of the project. A bound stands below what several runs measured, by the margin that its
 * comment states, and is never lowered to make a run pass: one that breaks is a regression to be
 * explained.
 *
 * Where from: four runs of `test:perf http-frameworks` on 2026-11-20 (2 cores of an AMD EPYC that others
 * use too, Linux 6.18, Node 24.21), case `text`, 50 connections; the ratios are CPU, throughput was
 * within 2 % of them unless it is said.
 */
export const bounds: Record<'http-frameworks' | 'express-on-fastify', readonly Bound[]> = {
  'http-frameworks': [
    // Measured 1.27 to 1.31x. Every second Fastify process is 22 % slower than the others, for as long as it
    // lives, so single runs wander; the margin is 13 % below the lowest.
    { contender: 'fastify', over: 'express', atLeast: 1.1 },
    // Measured 0.84 to 0.93x: Fastify costs 7 to 19 % more than the bare server does. The margin is 17 %.
    { contender: 'fastify', over: 'node-http', atLeast: 0.7 },
    // Measured 1.31 to 1.41x. The margin is 12 %.
    { contender: 'nestjs-fastify', over: 'nestjs-express', atLeast: 1.15 },
  ],
  // Measured 4.4 to 4.8x by CPU, 3.6 to 3.9x by throughput: mounting an Express app on Fastify costs the app several
  // times its own price. It is a way to migrate, not a way to be faster. The margin is 45 %.
  'express-on-fastify': [{ contender: 'express', over: 'fastify-express', atLeast: 2 }],
}
