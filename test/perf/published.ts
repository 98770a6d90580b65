/** What the authors of the seed texts measured, to be printed beside what is measured now. */
export interface Published {
  /** Which text, on what machine. */
  source: string
  /** Who the others are compared with. */
  baseline: string
  /** Requests per second, by subject. */
  requestsPerSecond: Readonly<Record<string, number>>
}

export const published: Record<'seed002' | 'seed003' | 'seed004', Published> = {
  /** autocannon -c 200 -d 10 -p 100, GET of a small JSON answer. Of its two tRPC servers the one without zod. */
  seed002: {
    source: 'seed 002: autocannon -c 200 -d 10 -p 100',
    baseline: 'plain-fastify',
    requestsPerSecond: { 'plain-fastify': 105_283, 'official-adapter': 23_760 },
  },
  /** wrk -t12 -c400 -d10s, GET with two query parameters. */
  seed003: {
    source: 'seed 003: wrk -t12 -c400 -d10s, Node 14.2, Intel i5 with 4 cores, 2018',
    baseline: 'express',
    requestsPerSecond: { express: 22_208, 'node-http': 33_067, fastify: 37_147 },
  },
  /** ab -k -c 200 -n 20000, GET hello world. */
  seed004: {
    source: 'seed 004: ab -k -c 200 -n 20000, Intel i7-7500U',
    baseline: 'nestjs-express',
    requestsPerSecond: { 'nestjs-express': 4402, 'nestjs-fastify': 11_936 },
  },
}
