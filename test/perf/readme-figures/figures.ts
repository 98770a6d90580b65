// The measured ratios that READMEs state: which race of which suite has each.

/** Where the figure comes from. The first race that a run has gives it. */
export interface FigureSource {
  readonly contender: string
  readonly over: string
  readonly case: string
  /** @default 'cpu' */
  readonly metric?: 'throughput' | 'rss'
  /** Suite and title of a race. */
  readonly races: readonly `${string}: ${string}`[]
}

const trpc = (over: string, kase: string, ...races: FigureSource['races']): FigureSource => ({
  contender: 'trpc-fastify',
  over,
  case: kase,
  races,
})
const overAdapter = (kase: string, ...races: FigureSource['races']): FigureSource =>
  trpc('official-adapter', kase, ...races)
const overRoute = (kase: string, ...races: FigureSource['races']): FigureSource =>
  trpc('plain-fastify', kase, ...races, 'trpc: over plain routes')

const next = (kase: string, ...races: FigureSource['races']): FigureSource => ({
  contender: 'next-on-fastify',
  over: 'next-start',
  case: kase,
  races,
})

const gateway = (over: string, race: string, kase = 'small', contender = 'aggregator-gateway'): FigureSource => ({
  contender,
  over,
  case: kase,
  races: [GATEWAY, `gateway: 100 connections, ${race}`],
})

const batching = (kase: string, metric?: FigureSource['metric']): FigureSource => ({
  contender: 'fastify-write-batching',
  over: 'fastify',
  case: kase,
  ...(metric && { metric }),
  races: ['write-batching: 100 connections'],
})

const TRPC = 'headlines: tRPC over the official adapter and over a plain route'
const GATEWAY = 'headlines: Gateway over NestJS with axios and over hand-written undici'
const NEXT = 'headlines: Cached Next page over next start'
const VALUES = 'trpc: inputs, outputs and a response of 10 kB'
const TRPC_ONLY = 'trpc: requests that only tRPC servers support'

const sources = {
  'trpc-hello': overAdapter('hello', TRPC, 'trpc: a query and a mutation'),
  'trpc-note': overAdapter('note', 'trpc: a query and a mutation'),
  'trpc-greet': overAdapter('greet', VALUES),
  'trpc-greet-checked': overAdapter('greetChecked', VALUES),
  'trpc-article': overAdapter('article', VALUES),
  'trpc-batch': overAdapter('batch', TRPC_ONLY),
  'trpc-middlewares': overAdapter('middlewares', TRPC_ONLY),
  'trpc-stream': overAdapter('stream', 'trpc: streamed batches'),
  'trpc-subscription': overAdapter('events', 'trpc: subscriptions of 20 events, 500 subscribers'),
  'route-hello': overRoute('hello', TRPC),
  'route-note': overRoute('note'),
  'route-greet': overRoute('greet'),
  'route-greet-checked': overRoute('greetChecked'),
  'route-article': overRoute('article'),
  'next-page': next('page', NEXT, 'next: pages that are kept'),
  'next-page-gzip': next('pageGzip', NEXT, 'next: pages that are kept'),
  'next-old-page': next('oldPage', 'next: pages that are kept'),
  'next-handler': next('handler', 'next: pages and handlers with a lifetime'),
  'next-file': next('small', 'next: files'),
  'next-behind-middleware': next('behindProxy', 'next: pages behind proxy.ts'),
  'gateway-nest-axios': gateway('nestjs-express-axios', 'NestJS on Express with axios'),
  'gateway-coalesced': gateway('nestjs-express-axios', 'identical requests', 'small', 'aggregator-gateway-coalesced'),
  'gateway-nest-undici': gateway('nestjs-fastify-undici', 'NestJS on Fastify with undici'),
  'gateway-undici': gateway('fastify-undici', 'by hand'),
  'gateway-undici-large': gateway('fastify-undici', 'bodies of 2 kB and 20 kB', 'large'),
  'cluster-short': {
    contender: 'clustered',
    over: 'node-cluster',
    case: 'shortConnection',
    races: ['headlines: Short connections over round robin', 'clustered-server: a connection for each request'],
  },
  'batching-text': batching('hello'),
  'batching-json': batching('json'),
  'batching-throughput': batching('hello', 'throughput'),
  'batching-memory': batching('hello', 'rss'),
  'batching-awake': {
    ...batching('hello'),
    races: ['write-batching: 100 connections, with a generator that stays awake'],
  },
} as const satisfies Readonly<Record<string, FigureSource>>

export type FigureName = keyof typeof sources

export const figureSources: Readonly<Record<FigureName, FigureSource>> = sources

/** The claim of each package that `test:perf` measures, for the report. */
export const HEADLINES: Readonly<Record<string, readonly FigureName[]>> = {
  'trpc-fastify': ['trpc-hello', 'route-hello'],
  'next-on-fastify': ['next-page', 'next-page-gzip'],
  'aggregator-gateway': ['gateway-undici', 'gateway-nest-axios'],
  'clustered-server': ['cluster-short'],
  'fastify-write-batching': ['batching-text'],
}

/** A table that stands between markers of a README. `{figure format}` in its cells is replaced. */
export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const ROUTE = '{route-hello full}'

export const tables: Readonly<Record<string, Table>> = {
  'trpc-fastify': {
    head: ['request', 'over the official adapter', 'over a plain Fastify route'],
    rows: [
      ['query without input', '{trpc-hello full}', ROUTE],
      ['query with a zod input', '{trpc-greet full}', '{route-greet full}'],
      ['the same with a checked output', '{trpc-greet-checked full}', '{route-greet-checked full}'],
      ['mutation', '{trpc-note full}', '{route-note full}'],
      ['response of 10 kB', '{trpc-article full}', '{route-article full}'],
      ['batch of 5 queries', '{trpc-batch full}', ''],
      ['3 middlewares and a context', '{trpc-middlewares full}', ''],
      ['streamed batch', '{trpc-stream full}', ''],
      ['subscription of 20 events', '{trpc-subscription full}', ''],
    ],
  },
  'next-on-fastify': {
    head: ['case', '`next start`', 'next-on-fastify', 'ratio with interval'],
    rows: (
      [
        ['App Router page, rendered at build', 'next-page'],
        ['the same page, gzip', 'next-page-gzip'],
        ['Pages Router page without data', 'next-old-page'],
        ['cached route handler', 'next-handler'],
        ['small file of `public/`', 'next-file'],
        ["page behind middleware, `proxied: 'always'`", 'next-behind-middleware'],
      ] as const
    ).map(([label, name]) => [label, `{${name} theirs}`, `{${name} ours}`, `{${name} full}`]),
  },
  'aggregator-gateway': {
    head: ['instead of', 'CPU ratio', 'interval'],
    rows: (
      [
        ['NestJS on Express with axios', 'gateway-nest-axios'],
        ['NestJS with axios, equal requests, `coalesce`', 'gateway-coalesced'],
        ['NestJS on Fastify with undici', 'gateway-nest-undici'],
        ['Fastify and undici by hand, 150 bytes', 'gateway-undici'],
        ['Fastify and undici by hand, 20 kB', 'gateway-undici-large'],
      ] as const
    ).map(([label, name]) => [label, `{${name} ratio}`, `{${name} interval}`]),
  },
  'fastify-write-batching': {
    head: ['case', 'without', 'with', 'ratio with interval'],
    rows: [
      ['CPU per request, text', '{batching-text theirs}', '{batching-text ours}', '{batching-text full}'],
      ['CPU per request, JSON', '{batching-json theirs}', '{batching-json ours}', '{batching-json full}'],
      ['responses per second, text', '', '', '{batching-throughput full}'],
      ['CPU per request, client is awake', '', '', '{batching-awake full}'],
      ['memory', '', '', '{batching-memory full}'],
    ],
  },
}
