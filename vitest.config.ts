import { defineConfig, type ViteUserConfig } from 'vitest/config'

declare module 'vitest' {
  interface ProvidedContext {
    /** Which versions of the packages' peers a project runs with. */
    peers: 'lowest' | 'newest'
    /** How many processes share the cache of a Next app. */
    processes: readonly number[]
    /** How requests of differential tests are sent, see packages/trpc-fastify/test/helpers/differential/over-http2.ts. */
    transport: 'h2c' | 'h2' | undefined
    /** Which races of the performance suites run. */
    races: 'headlines' | 'all'
    /** The time, as Date.now() has it, from which on no claim is measured further. */
    deadline: number
    /** When a performance run began, as Date.now() has it. */
    startedAt: number
    /** The script of package.json that runs it. */
    script: 'test:perf' | 'test:perf:all' | 'test:perf:nodes'
    /** Time of its loads, as a share of those that were published. */
    scale: number
    /** Columns of the terminal, `Infinity` without one. */
    columns: number
  }
}

const common = {
  // Without this, every project would look for benchmarks too.
  benchmark: { include: [] },
  // A busy machine may stand still for seconds.
  expect: { poll: { timeout: 15_000 } },
}

/** Three files at a time, on two cores too: most of their tests wait more than they work. */
const beside = { ...common, maxWorkers: 3 }

/** A project that must have the machine to itself: one file at a time, and after all other projects. */
const alone = { pool: 'forks', fileParallelism: false, maxWorkers: 1, retry: 0, sequence: { groupOrder: 1 } } as const

/** What takes many minutes, and of which `test:all` has the most important part: `test:nightly` runs them. */
const thorough = [
  'packages/*/test/thorough/**/*.test.ts',
  'packages/next-on-fastify/test/live/{redis-failures,soak}.test.ts',
  'test/live/stack-hosts.test.ts',
  'test/conformance/next-{cache-components,direct,http2,new-build}.test.ts',
  'test/packaging/{hello-worlds,next-suite,starter-pages}.test.ts',
]

/** Tests of next-on-fastify that run with more than one Next: each file needs a process of its own. */
const nextMatrix = (...files: string[]): string[] =>
  files.map((file) => `packages/next-on-fastify/test/matrix/${file}.test.ts`)

/** Those of `test:all`, with the newest Next. */
const nextFeatures = nextMatrix(
  'cdn-revalidation',
  'cdn-tags',
  'middleware',
  'response-cache',
  'router-bypass',
  'shared-cache',
  'shared-images',
  'skew-protection',
)

/** Those that only `test:nightly` runs. */
const nextVariants = nextMatrix('base-path', 'shared-redis', 'trailing-slash')

/** Thousands of requests, each compared with the official adapter. */
const differential = ['packages/trpc-fastify/test/unit/differential/**']

/** When the claims of `test:perf` end, in milliseconds after its start. Races that have not begun keep their time. */
const HEADLINES = 7.3 * 60_000

/** The same of `test:perf:nodes` at full scale. */
const NODES = 60 * 60_000

/** Of `test:perf:nodes`: see test/perf/run-nodes.ts. */
const SCALE = Number(process.env['PERF_SCALE'] ?? 1)

/** The values of a performance run. Published loads of a minute take seconds in all but `test:perf:nodes`. */
const ofRun = <Name extends string>(
  script: Name,
): { script: Name; startedAt: number; scale: number; columns: number } => ({
  script,
  columns: process.stdout.columns ?? Infinity,
  startedAt: Date.now(),
  scale: 0.1,
})

const performance = {
  ...common,
  testTimeout: 600_000,
  hookTimeout: 600_000,
  ...alone,
}

const config: ViteUserConfig = defineConfig({
  test: {
    benchmark: common.benchmark,
    projects: [
      {
        test: {
          name: 'unit',
          // Some 40 files import Fastify and tRPC: once per worker is enough.
          isolate: false,
          provide: { peers: 'newest' },
          include: ['packages/*/test/unit/**/*.test.ts'],
          exclude: differential,
          ...beside,
          // Thousands of synthetic races take 5 s on a slow machine.
          testTimeout: 30_000,
        },
      },
      {
        // The same tests with the oldest peers that the packages support in place of the newest. Aliases hold for what
        // vite transforms, which is tests and sources. What lies in node_modules imports its own: of that, @trpc/client
        // brings the newest @trpc/server along, as clients on other machines do, and OpenTelemetry's SDK the newest API,
        // as the SDK of an app may; nothing imports Fastify.
        resolve: {
          alias: {
            '@fastify/websocket': 'fastify-websocket-lowest',
            '@opentelemetry/api': 'opentelemetry-api-lowest',
            '@trpc/server': 'trpc-server-lowest',
            fastify: 'fastify-lowest',
            jose: 'jose-lowest',
            'prom-client': 'prom-client-lowest',
          },
        },
        test: {
          name: 'lowest',
          isolate: false,
          provide: { peers: 'lowest' },
          include: [
            'packages/{aggregator-gateway,fastify-write-batching,next-on-fastify,trpc-fastify}/test/unit/**/*.test.ts',
          ],
          ...beside,
          testTimeout: 30_000,
        },
      },
      // What tRPC's clients get over HTTP/2 is what the official adapter sends over HTTP/1.1.
      ...(['h2c', 'h2'] as const).map((transport) => ({
        test: {
          name: `differential-${transport}`,
          isolate: false,
          provide: { peers: 'newest', transport } as const,
          include: ['packages/trpc-fastify/test/unit/differential/**/*.test.ts'],
          exclude: ['**/{http2,random-requests,sockets}.test.ts'],
          ...beside,
          testTimeout: 30_000,
        },
      })),
      {
        test: {
          name: 'differential',
          isolate: false,
          provide: { peers: 'newest' },
          include: differential.map((folder) => `${folder}/*.test.ts`),
          ...beside,
          testTimeout: 30_000,
        },
      },
      {
        // One short test of each package with real sockets or processes, for `test`.
        test: {
          name: 'smoke',
          include: ['packages/*/test/smoke/**/*.test.ts'],
          ...common,
          testTimeout: 60_000,
          ...alone,
        },
      },
      {
        // Real servers under real load: races, crashes, signals.
        test: {
          name: 'live',
          provide: { peers: 'newest', processes: [2] },
          include: [
            'packages/*/test/live/**/*.test.ts',
            'test/live/**/*.test.ts',
            ...nextFeatures,
            ...nextMatrix('next'),
          ],
          exclude: thorough,
          ...common,
          testTimeout: 120_000,
          ...alone,
        },
      },
      {
        // Pages, bodies and errors of the oldest Next.
        test: {
          name: 'live-lowest',
          provide: { peers: 'lowest' },
          include: nextMatrix('next'),
          ...common,
          testTimeout: 120_000,
          ...alone,
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          exclude: thorough,
          ...beside,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'thorough',
          provide: { peers: 'newest', processes: [4] },
          // `test:all` reloads the stack three times, and subscribes a few times.
          env: { STACK_RELOADS: '20', SUBSCRIPTION_RUNS: '200' },
          include: [
            ...thorough,
            ...nextVariants,
            ...nextMatrix('shared-cache'),
            'packages/trpc-fastify/test/unit/client/subscriptions.test.ts',
            'test/browser/stack.test.ts',
          ],
          ...common,
          testTimeout: 120_000,
          ...alone,
        },
      },
      {
        test: {
          name: 'thorough-next-lowest',
          provide: { peers: 'lowest', processes: [2] },
          include: [...nextFeatures, ...nextVariants],
          ...common,
          testTimeout: 120_000,
          ...alone,
        },
      },
      {
        // What clustered-server goes through, at full size and by the clock: three quarters of an hour, and nothing beside it.
        test: {
          name: 'faults',
          env: {
            RELOADS: '100',
            REQUESTS: '1000000',
            IDLE: '10000',
            FAULT_MINUTES: '30',
            QUIET_MACHINE: 'true',
          },
          include: ['packages/clustered-server/test/live/**/*.test.ts'],
          ...common,
          testTimeout: 120_000,
          ...alone,
        },
      },
      {
        // Answers and pages of the lowest Next, side by side with ours: see examples/next/older-next.ts.
        test: {
          name: 'thorough-lowest',
          env: { NEXT_PACKAGE: 'next-lowest' },
          include: ['test/conformance/next{,-direct,-features,-http2,-new-build}.test.ts', 'test/browser/next.test.ts'],
          ...common,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...alone,
        },
      },
      {
        test: {
          name: 'packaging',
          ...alone,
          sequence: { groupOrder: 2 },
          include: ['test/packaging/**/*.test.ts'],
          exclude: thorough,
          ...common,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // Pages in headless Chromium.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          ...common,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...alone,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: { name: 'docs', include: ['test/{docs,lint}/**/*.test.ts'], ...beside, testTimeout: 60_000 },
      },
      {
        test: {
          name: 'perf',
          provide: { ...ofRun('test:perf'), races: 'headlines', deadline: Date.now() + HEADLINES },
          include: ['test/perf/headlines.perf.ts'],
          ...performance,
        },
      },
      {
        test: {
          name: 'perf-all',
          provide: { ...ofRun('test:perf:all'), races: 'all', deadline: Number.MAX_SAFE_INTEGER },
          include: ['test/perf/**/*.perf.ts'],
          exclude: ['test/perf/{headlines,nodes}.perf.ts'],
          ...performance,
        },
      },
      {
        test: {
          name: 'perf-nodes',
          provide: {
            ...ofRun('test:perf:nodes'),
            races: 'headlines',
            scale: SCALE,
            deadline: Date.now() + NODES * SCALE,
          },
          include: ['test/perf/{gateway-seed,nodes}.perf.ts'],
          ...performance,
        },
      },
    ],
  },
})

export default config
