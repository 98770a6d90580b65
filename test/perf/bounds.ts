// A bound is the lowest ratio that a claim of the product can have. docs/measurements.md has a section for each key, with
// the measurements, the machine and the reason for the bound.

import type { Metric } from 'speed-bounds'

export interface Bound {
  contender: string
  over: string
  atLeast: number
  /** Claimed by `test:perf:all` in place of `atLeast`. */
  target?: number
  /** Claimed in place of `atLeast` by `test:perf` and `test:perf:nodes`, whose four processes of each resolve less. */
  quick?: number
  /** CPU and throughput when left out. */
  metric?: Metric
  /** The first case of the race when left out. */
  case?: string
}

const claims = {
  'http-frameworks': [
    { contender: 'fastify', over: 'express', atLeast: 1.05 },
    { contender: 'fastify', over: 'node-http', atLeast: 0.76 },
    { contender: 'nestjs-fastify', over: 'nestjs-express', atLeast: 1.08 },
  ],
  'express-on-fastify': [{ contender: 'express', over: 'fastify-express', atLeast: 3 }],
  trpc: [
    { case: 'hello', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 3, target: 6 },
    { case: 'note', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 3.6, target: 5 },
    { case: 'hello', contender: 'trpc-fastify', over: 'plain-fastify', atLeast: 0.77, quick: 0.6 },
    { case: 'note', contender: 'trpc-fastify', over: 'plain-fastify', atLeast: 0.9 },
  ],
  'trpc-values': [
    { case: 'greet', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 4.5, target: 6 },
    { case: 'greetChecked', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 5.3, target: 6 },
    { case: 'article', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 2.2 },
  ],
  'trpc-plain': [
    { case: 'hello', contender: 'trpc-fastify', over: 'plain-fastify', atLeast: 0.95 },
    { case: 'note', contender: 'trpc-fastify', over: 'plain-fastify', atLeast: 0.95 },
    { case: 'greet', contender: 'trpc-fastify', over: 'plain-fastify', atLeast: 0.85 },
    { case: 'greetChecked', contender: 'trpc-fastify', over: 'plain-fastify', atLeast: 0.87 },
    { case: 'article', contender: 'trpc-fastify', over: 'plain-fastify', atLeast: 0.9 },
  ],
  'trpc-rest': [
    { case: 'query', contender: 'trpc-fastify-rest', over: 'plain-fastify', atLeast: 0.79 },
    { case: 'path', contender: 'trpc-fastify-rest', over: 'plain-fastify', atLeast: 0.6 },
    { case: 'body', contender: 'trpc-fastify-rest', over: 'plain-fastify', atLeast: 0.8 },
    { case: 'long', contender: 'trpc-fastify-rest', over: 'plain-fastify', atLeast: 0.78 },
  ],
  'trpc-only': [
    { case: 'batch', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 3.6, target: 5 },
    { case: 'middlewares', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 3.6, target: 4 },
    { case: 'options', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 3.1, target: 5 },
  ],
  'trpc-stream': [
    { case: 'stream', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 13 },
    { case: 'laterStream', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 7.6 },
  ],
  'trpc-subscriptions': [
    { case: 'events', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 3.9, target: 4 },
  ],
  'trpc-seed': [{ case: 'hello', contender: 'trpc-fastify', over: 'official-adapter', atLeast: 2.3 }],
  'trpc-seed-memory': [{ contender: 'trpc-fastify', over: 'plain-fastify', atLeast: 0.8, metric: 'peakRss' }],
  'trpc-memory': [{ contender: 'trpc-fastify', over: 'official-adapter', atLeast: 2.2, metric: 'rss' }],
  gateway: [
    { contender: 'aggregator-gateway', over: 'fastify-undici', atLeast: 1.1, quick: 1, metric: 'cpu' },
    { contender: 'aggregator-gateway', over: 'fastify-undici', atLeast: 1.2, target: 1.3 },
  ],
  'gateway-protections': [
    { contender: 'aggregator-gateway', over: 'aggregator-gateway-bare', atLeast: 0.82, target: 0.909 },
  ],
  'gateway-bodies': [
    { case: 'medium', contender: 'aggregator-gateway', over: 'fastify-undici', atLeast: 1.6, target: 1.7 },
    { case: 'large', contender: 'aggregator-gateway', over: 'fastify-undici', atLeast: 3.5 },
  ],
  'gateway-nest-axios': [
    { contender: 'aggregator-gateway', over: 'nestjs-express-axios', atLeast: 9.4, quick: 6, metric: 'cpu' },
    { contender: 'aggregator-gateway', over: 'nestjs-express-axios', atLeast: 8, target: 9 },
  ],
  'gateway-nest-axios-50': [
    { contender: 'aggregator-gateway', over: 'nestjs-express-axios', atLeast: 9, metric: 'cpu' },
    { contender: 'aggregator-gateway', over: 'nestjs-express-axios', atLeast: 7 },
  ],
  'gateway-nest-undici': [{ contender: 'aggregator-gateway', over: 'nestjs-fastify-undici', atLeast: 1.8 }],
  'gateway-nest-undici-50': [{ contender: 'aggregator-gateway', over: 'nestjs-fastify-undici', atLeast: 1.7 }],
  'gateway-coalesced': [
    { contender: 'aggregator-gateway-coalesced', over: 'nestjs-express-axios', atLeast: 56, metric: 'cpu' },
    { contender: 'aggregator-gateway-coalesced', over: 'nestjs-express-axios', atLeast: 50 },
  ],
  'gateway-coalesced-50': [
    { contender: 'aggregator-gateway-coalesced', over: 'nestjs-express-axios', atLeast: 50, metric: 'cpu' },
    { contender: 'aggregator-gateway-coalesced', over: 'nestjs-express-axios', atLeast: 35 },
  ],
  'gateway-tail': [{ contender: 'hedged', over: 'unhedged', atLeast: 10, metric: 'p99' }],
  'next-kept': [
    { case: 'page', contender: 'next-on-fastify', over: 'next-start', atLeast: 11, quick: 8, metric: 'cpu' },
    { case: 'pageGzip', contender: 'next-on-fastify', over: 'next-start', atLeast: 23, quick: 12, metric: 'cpu' },
    { case: 'page', contender: 'next-on-fastify', over: 'next-start', atLeast: 11, target: 12 },
    { case: 'pageGzip', contender: 'next-on-fastify', over: 'next-start', atLeast: 20, target: 25 },
    { case: 'oldPage', contender: 'next-on-fastify', over: 'next-start', atLeast: 4.1, target: 6 },
  ],
  'next-learned': [
    { case: 'unmodified', contender: 'next-on-fastify', over: 'next-start', atLeast: 12 },
    { case: 'rsc', contender: 'next-on-fastify', over: 'next-start', atLeast: 17 },
  ],
  'next-route': [{ case: 'api', contender: 'next-on-fastify', over: 'next-start', atLeast: 9.6 }],
  'next-lifetime': [
    { case: 'isr', contender: 'next-on-fastify', over: 'next-start', atLeast: 10 },
    { case: 'oldIsr', contender: 'next-on-fastify', over: 'next-start', atLeast: 10 },
    { case: 'handler', contender: 'next-on-fastify', over: 'next-start', atLeast: 12 },
  ],
  'next-proxy': [
    { case: 'behindProxy', contender: 'next-on-fastify', over: 'next-start', atLeast: 3.1 },
    { case: 'besideProxy', contender: 'next-on-fastify', over: 'next-start', atLeast: 10, metric: 'cpu' },
  ],
  'next-files': [
    { case: 'small', contender: 'next-on-fastify', over: 'next-start', atLeast: 5.3, target: 6 },
    { case: 'asset', contender: 'next-on-fastify', over: 'next-start', atLeast: 4.5, target: 6 },
    { case: 'assetGzip', contender: 'next-on-fastify', over: 'next-start', atLeast: 11, target: 13 },
  ],
  'next-large-file': [{ contender: 'next-on-fastify', over: 'next-start', atLeast: 30, target: 100, metric: 'cpu' }],
  'next-rendered': [
    { case: 'api', contender: 'next-on-fastify', over: 'next-start', atLeast: 0.75, metric: 'cpu' },
    { case: 'dynamicHandler', contender: 'next-on-fastify', over: 'next-start', atLeast: 0.66, metric: 'cpu' },
    { case: 'ssr', contender: 'next-on-fastify', over: 'next-start', atLeast: 0.72, metric: 'cpu' },
    { case: 'oldSsr', contender: 'next-on-fastify', over: 'next-start', atLeast: 0.72, metric: 'cpu' },
  ],
  'next-direct': [
    { case: 'api', contender: 'next-on-fastify-direct', over: 'next-start', atLeast: 1.2, target: 1.4 },
    { case: 'dynamicHandler', contender: 'next-on-fastify-direct', over: 'next-start', atLeast: 1.1, target: 1.25 },
    { case: 'ssr', contender: 'next-on-fastify-direct', over: 'next-start', atLeast: 0.92, target: 1 },
    { case: 'oldSsr', contender: 'next-on-fastify-direct', over: 'next-start', atLeast: 0.97, metric: 'cpu' },
  ],
  'next-direct-streaming': [{ contender: 'next-on-fastify-direct', over: 'next-start', atLeast: 0.86, target: 0.97 }],
  'next-workers': [
    { case: 'ssr', contender: 'two-workers', over: 'one-worker', atLeast: 1, target: 1.1, metric: 'throughput' },
    { case: 'oldSsr', contender: 'two-workers', over: 'one-worker', atLeast: 1.1, metric: 'throughput' },
  ],
  'next-quota': [
    { case: 'ssr', contender: "next-on-fastify, 'auto'", over: 'next-start', atLeast: 0.7, metric: 'throughput' },
    { case: 'page', contender: "next-on-fastify, 'auto'", over: 'next-start', atLeast: 12, metric: 'cpu' },
  ],
  'clustered-server-work': [
    { contender: 'clustered', over: 'single-process', atLeast: 0.9, metric: 'cpu' },
    { contender: 'clustered', over: 'single-process', atLeast: 1.85, quick: 1.7, metric: 'throughput' },
  ],
  'clustered-server-overhead': [{ contender: 'clustered', over: 'single-process', atLeast: 0.7, metric: 'cpu' }],
  'clustered-server-many': [{ contender: 'clustered', over: 'single-process', atLeast: 0.909, metric: 'cpu' }],
  'clustered-server-short': [
    { contender: 'clustered', over: 'node-cluster', atLeast: 1.4, target: 1.6, quick: 1.3, metric: 'cpu' },
  ],
  'clustered-quotas': [{ contender: 'clustered', over: 'single-process', atLeast: 0.95, metric: 'throughput' }],
  'write-batching': [
    { case: 'hello', contender: 'fastify-write-batching', over: 'fastify', atLeast: 1.03, metric: 'cpu' },
    { case: 'json', contender: 'fastify-write-batching', over: 'fastify', atLeast: 1.03, metric: 'cpu' },
  ],
  'clustered-tail': [{ contender: 'clustered', over: 'node-cluster', atLeast: 2.9, metric: 'p99' }],
} satisfies Record<string, readonly Bound[]>

/** The bound with the ratio that a run of all races claims, or one of the headlines. */
export function claimedBound({ target, quick, ...bound }: Bound, races: 'headlines' | 'all'): Bound {
  return { ...bound, atLeast: (races === 'all' ? target : quick) ?? bound.atLeast }
}

export const bounds: Readonly<Record<keyof typeof claims, readonly Bound[]>> = claims

/** Claims that are no ratios of a race. */
export const limits = {
  /** From `kill -9` of one of two workers until a new connection gets a response, in ms. */
  responseAfterKill: { median: 15, p99: 50, longest: 150 },
  /** Private memory of a worker beyond that of the app in one process, in MB. */
  memoryPerWorker: 2,
  /** Private memory of the primary, in MB. */
  primaryMemory: 60,
  /** Resident memory with 500 pages, over that of `next start`. */
  pagesMemory: 1.2,
} as const
