/** A claim of the product: the contender is at least `atLeast` times as good as the other. */
export interface Bound {
  contender: string
  over: string
  atLeast: number
  metric?: 'cpu' | 'throughput' | 'p99' | 'rss'
}

/**
 * Every bound of the project. A bound stands below what several runs measured, by the margin that its
 * comment states, and is never lowered to make a run pass: one that breaks is a regression to be
 * explained.
 */
export const bounds: Record<'http-frameworks' | 'express-on-fastify', readonly Bound[]> = {
  'http-frameworks': [
    { contender: 'fastify', over: 'express', atLeast: 1.1 },
    { contender: 'fastify', over: 'node-http', atLeast: 0.7 },
    { contender: 'nestjs-fastify', over: 'nestjs-express', atLeast: 1.15 },
  ],
  'express-on-fastify': [{ contender: 'express', over: 'fastify-express', atLeast: 2 }],
}
