import { defineConfig, type ViteUserConfig } from 'vitest/config'

declare module 'vitest' {
  interface ProvidedContext {
    /** Which versions of the packages' peers a project runs with. */
    peers: 'lowest' | 'newest'
    /** Which races of the performance suites run. */
    races: 'main' | 'all'
  }
}

/** A project that must have the machine to itself: one file at a time, and after all other projects. */
const alone = { pool: 'forks', fileParallelism: false, maxWorkers: 1, retry: 0, sequence: { groupOrder: 1 } } as const

const performance = {
  include: ['test/perf/**/*.perf.ts'],
  benchmark: { include: [] },
  testTimeout: 600_000,
  hookTimeout: 600_000,
  ...alone,
}

const config: ViteUserConfig = defineConfig({
  test: {
    // Without this, every project would look for benchmarks too.
    benchmark: { include: [] },
    projects: [
      {
        test: {
          name: 'unit',
          // Some 40 files import Fastify and tRPC: once per worker is enough.
          isolate: false,
          provide: { peers: 'newest' },
          include: ['packages/*/test/unit/**/*.test.ts'],
          benchmark: { include: [] },
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
            'prom-client': 'prom-client-lowest',
          },
        },
        test: {
          name: 'lowest',
          isolate: false,
          provide: { peers: 'lowest' },
          include: ['packages/{aggregator-gateway,next-on-fastify,trpc-fastify}/test/unit/**/*.test.ts'],
          benchmark: { include: [] },
          testTimeout: 30_000,
        },
      },
      {
        // Real servers under real load: races, crashes, signals.
        test: {
          name: 'live',
          include: ['packages/*/test/live/**/*.test.ts', 'test/live/**/*.test.ts'],
          benchmark: { include: [] },
          testTimeout: 120_000,
          ...alone,
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          benchmark: { include: [] },
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'packaging',
          ...alone,
          sequence: { groupOrder: 2 },
          include: ['test/packaging/**/*.test.ts'],
          benchmark: { include: [] },
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // Pages in headless Chromium.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          benchmark: { include: [] },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...alone,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: { name: 'docs', include: ['test/docs/**/*.test.ts'], benchmark: { include: [] } },
      },
      {
        // Tables and no races: they take part where all are measured.
        test: {
          name: 'perf',
          provide: { races: 'main' },
          exclude: ['**/gateway-seed.perf.ts', '**/clustered-{quotas,reloads,tail}.perf.ts'],
          ...performance,
        },
      },
      { test: { name: 'perf-all', provide: { races: 'all' }, ...performance } },
      {
        // vite's module runner turns imports into getters, which distorts microbenchmarks.
        test: {
          name: 'bench',
          include: [],
          benchmark: { include: ['packages/*/bench/**/*.bench.ts'] },
          experimental: { viteModuleRunner: false },
          ...alone,
        },
      },
    ],
  },
})

export default config
