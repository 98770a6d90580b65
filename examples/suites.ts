// The servers that `run.ts` starts, by suite: what each one is, and requests to try.

export interface Example {
  readonly description: string
  /** Commands in which `{url}` and `{admin}` stand for the addresses of the server. */
  readonly requests: readonly string[]
  /** Build of the Next app that the server needs. */
  readonly nextBuild?: 'base' | 'proxy' | 'standalone'
  /** Whether the server calls the upstreams of `gateway/upstreams.ts`. */
  readonly callsUpstreams?: true
  readonly env?: Readonly<Record<string, string>>
}

export type Suite = Readonly<Record<string, Example>>

/** Servers that get the same requests. */
function suite(common: Omit<Example, 'description'>, descriptions: Readonly<Record<string, string>>): Suite {
  return Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => [name, { ...common, description }]),
  )
}

const NEXT = { NEXT_TELEMETRY_DISABLED: '1' }
const nextPages: Example['requests'] = ["curl -i '{url}/static'", "curl '{url}/api/message'"]

export const suites: Readonly<Record<string, Suite>> = {
  'http-frameworks': suite(
    { requests: ["curl -i '{url}/api?name=john&lastname=doe'", "curl '{url}/json'"] },
    {
      'node-http': 'node:http alone',
      express: 'Express 5',
      fastify: 'Fastify 5',
      'fastify-schema': 'Fastify 5 with a response schema',
      'fastify-write-batching': 'Fastify 5 with fastify-write-batching',
      'fastify-express': 'the Express app on Fastify, by @fastify/express',
      'nestjs-express': 'NestJS 12 on Express',
      'nestjs-fastify': 'NestJS 12 on Fastify',
    },
  ),
  trpc: {
    ...suite(
      { requests: ["curl '{url}/trpc/hello'", `curl -G '{url}/trpc/greet' --data-urlencode 'input={"name":"you"}'`] },
      {
        'trpc-fastify': 'Fastify with trpc-fastify',
        'official-adapter': "Fastify with tRPC's own adapter",
        'official-standalone': "tRPC's own standalone adapter",
        'hono-trpc': 'Hono on Node with @hono/trpc-server',
        'plain-fastify': 'Fastify with a route for each procedure',
        'plain-fastify-schema': 'the same with response schemas',
      },
    ),
    ...suite(
      {
        requests: [
          "curl '{url}/trpc/hello'",
          `curl -G '{url}/trpc/greet' --data-urlencode 'input={"name":"you"}' --data-urlencode 'data={"json":{"name":"you"}}'`,
        ],
      },
      { orpc: 'Fastify with oRPC, which has a protocol of its own' },
    ),
    ...suite(
      { requests: ["curl '{url}/rest/greetings?name=you'", "curl '{url}/rest/checked-greetings/you'"] },
      { rest: 'Fastify with trpc-fastify/openapi, which serves the router as REST' },
    ),
    ...suite(
      { requests: ["curl '{url}/trpc/hello'", "curl '{url}/trpc/article'"] },
      { 'node-http': 'node:http alone, with two of the routes' },
    ),
    ...suite(
      { requests: ["curl '{url}/'", "curl '{url}/trpc/hello'"] },
      { page: 'trpc-fastify with a page for your browser' },
    ),
  },
  gateway: {
    ...suite(
      { requests: ["curl -i '{url}/api/150'", "curl '{url}/api/2000'"], callsUpstreams: true },
      {
        'aggregator-gateway': 'aggregator-gateway with its protections',
        'aggregator-gateway-bare': 'the same without them',
        'aggregator-gateway-coalesced': 'the same with request coalescing',
        'express-axios': 'Express 5 with axios',
        'fastify-axios': 'Fastify 5 with axios',
        'fastify-fetch': "Fastify 5 with Node's fetch",
        'fastify-got': 'Fastify 5 with got',
        'fastify-undici': 'Fastify 5 with a pool of undici',
        'nestjs-express-axios': 'NestJS 12 on Express with @nestjs/axios',
        'nestjs-fastify-axios': 'NestJS 12 on Fastify with @nestjs/axios',
        'nestjs-fastify-undici': 'NestJS 12 on Fastify with nestjs-undici',
      },
    ),
    ...suite(
      { requests: ["curl -i '{url}/hedged/150'", "curl -i '{url}/unhedged/150'"], callsUpstreams: true },
      { 'aggregator-gateway-tail': 'aggregator-gateway with and without hedged requests' },
    ),
    ...suite(
      { requests: ["curl -i '{url}/dashboard/7'", "curl '{url}/dashboard/8'"], callsUpstreams: true },
      { dashboard: 'aggregator-gateway with dependent, optional and mapped calls' },
    ),
    ...suite(
      { requests: ["curl '{url}/profile/150'", "curl '{url}/usage'"] },
      { upstreams: 'the servers behind all gateways' },
    ),
  },
  next: {
    ...suite(
      {
        requests: [
          "curl -i '{url}/static'                                 # cached: look at cache-status, twice",
          "curl -i '{url}/isr'                                    # cached behind middleware: x-proxy-count grows",
          "curl -i '{url}/guarded'                                # middleware responds by itself",
          "curl -i '{url}/ssr'                                    # rendered for each request",
          "curl -X POST '{url}/handlers/revalidate?path=/isr'     # then /isr says fwd=miss, is stored, and hits",
          "curl '{url}/metrics'                                   # next_response_cache_*: hits, misses, reasons",
        ],
        nextBuild: 'proxy',
        env: NEXT,
      },
      { tour: 'starts by default: a cached page, middleware, a revalidation and metrics' },
    ),
    ...suite(
      { requests: nextPages, nextBuild: 'base', env: NEXT },
      {
        'next-on-fastify': 'Fastify with next-on-fastify',
        'next-start': 'next start',
        'custom-server': "node:http with Next's request handler",
        'fastify-custom': "Fastify with Next's request handler",
        'fastify-nextjs': 'Fastify with @fastify/nextjs',
        'fastify-cluster': 'fastify-custom in several processes, by node:cluster',
      },
    ),
    ...suite(
      { requests: nextPages, nextBuild: 'standalone', env: NEXT },
      { standalone: "the server that `output: 'standalone'` makes" },
    ),
  },
  'clustered-server': {
    ...suite(
      { requests: ["curl -i '{url}/'", "curl '{url}/pid'"] },
      {
        clustered: 'clustered-server',
        'single-process': 'the app in one process',
        'node-cluster': 'node:cluster',
        pm2: 'PM2 7 in cluster mode',
      },
    ),
    ...suite(
      { requests: nextPages, nextBuild: 'base', env: NEXT },
      { 'next-on-fastify': 'clustered-server with the Next app' },
    ),
  },
  deploy: suite(
    // Without the delay that lets load balancers notice the shutdown.
    {
      requests: ["curl -i '{url}/'", "curl '{admin}/ready'"],
      env: { ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0', AGENT_PORT: '0', SHUTDOWN_DELAY: '0' },
    },
    { server: 'clustered-server with probes, as containers and systemd run it' },
  ),
  // It prints by itself what to try.
  stack: suite(
    { requests: ["curl -i '{url}/catalog'", "curl '{admin}/metrics'"] },
    { stack: 'a Next app, a tRPC API and a gateway in one clustered server, with all that they need' },
  ),
}
