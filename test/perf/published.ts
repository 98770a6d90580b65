/** What the author of a seed text measured of one system. */
export interface PublishedFigures {
  subject: string
  /** Which case it answered; the first one when left out. */
  case?: string
  requestsPerSecond: number
  /** Milliseconds. */
  p50?: number
  p99?: number
  /** Megabytes. */
  memory?: number
  /** Requests without an answer. */
  timeouts?: number
}

/** What the authors of the seed texts measured, to be printed beside what is measured now. */
export interface Published {
  /** Which text, on what machine. */
  source: string
  /** Who the others are compared with. */
  baseline: string
  figures: readonly PublishedFigures[]
}

export const published: Record<'seed002' | 'seed003' | 'seed004', Published> = {
  /** autocannon -c 200 -d 10 -p 100, GET of a small JSON answer; of its two tRPC servers one checks its input by zod. */
  seed002: {
    source: 'seed 002: autocannon -c 200 -d 10 -p 100',
    baseline: 'plain-fastify',
    figures: [
      { subject: 'plain-fastify', requestsPerSecond: 105_283, p50: 84, p99: 176, memory: 180, timeouts: 0 },
      { subject: 'official-adapter', requestsPerSecond: 23_760, p50: 577, p99: 827, memory: 400, timeouts: 700 },
      {
        subject: 'official-adapter',
        case: 'greet',
        requestsPerSecond: 20_381,
        p50: 917,
        p99: 1172,
        memory: 470,
        timeouts: 700,
      },
    ],
  },
  /** wrk -t12 -c400 -d10s, GET with two query parameters. */
  seed003: {
    source: 'seed 003: wrk -t12 -c400 -d10s, Node 14.2, Intel i5 with 4 cores, 2018',
    baseline: 'express',
    figures: [
      { subject: 'express', requestsPerSecond: 22_208 },
      { subject: 'node-http', requestsPerSecond: 33_067 },
      { subject: 'fastify', requestsPerSecond: 37_147 },
    ],
  },
  /** ab -k -c 200 -n 20000, GET hello world. */
  seed004: {
    source: 'seed 004: ab -k -c 200 -n 20000, Intel i7-7500U',
    baseline: 'nestjs-express',
    figures: [
      { subject: 'nestjs-express', requestsPerSecond: 4402 },
      { subject: 'nestjs-fastify', requestsPerSecond: 11_936 },
    ],
  },
}
