/** Published figures of one system, by the author of a seed text. */
export interface PublishedFigures {
  subject: string
  /** The measured case. @default the first case */
  case?: string
  /** Undefined if the text has it in a picture only. */
  requestsPerSecond?: number
  /** Ratio over the baseline, if the text has no absolute figure. */
  ratio?: number
  /** Milliseconds. */
  p50?: number
  p99?: number
  /** Mean response time. Milliseconds. */
  average?: number
  /** Megabytes of all responses. */
  transferred?: number
  /** Megabytes. */
  memory?: number
  /** Requests without a response. */
  timeouts?: number
}

/** Published figures of the seed texts, printed beside the measured ones. */
export interface Published {
  /** The text and its machine. */
  source: string
  /** The baseline of the comparison. */
  baseline: string
  figures: readonly PublishedFigures[]
}

/** Of seed 000: Next by itself, on Fastify, and on Fastify in as many processes as there are logical processors. */
const ofSeed000 = (source: string, fastify: number, cluster: number): Published => ({
  source: `seed 000: autocannon, ${source}, Intel i9-9900K with 16 logical processors`,
  baseline: 'next-start',
  figures: [
    { subject: 'next-start', ratio: 1 },
    { subject: 'fastify-custom', ratio: fastify },
    { subject: 'fastify-cluster', ratio: cluster },
  ],
})

export const published: Record<
  'seed000page' | 'seed000api' | 'seed000nextApi' | 'seed000docker' | 'seed002' | 'seed003' | 'seed004',
  Published
> = {
  seed000page: ofSeed000('the page of create-next-app', 0.87, 2.9),
  seed000api: ofSeed000("{ message } by pages/api and by Fastify's route", 4.14, 5.63),
  seed000nextApi: ofSeed000('{ message } by pages/api', 0.8, 2.31),
  seed000docker: ofSeed000('the page of create-next-app, in Docker', 0.85, 0.83),
  /** autocannon -c 200 -d 10 -p 100, GET of a small JSON response. One of its two tRPC servers checks its input by zod. */
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
      { subject: 'express', requestsPerSecond: 22_208, average: 17.03 },
      { subject: 'node-http', requestsPerSecond: 33_067, average: 11.03 },
      { subject: 'fastify', requestsPerSecond: 37_147, average: 9.75 },
    ],
  },
  /** ab -k -c 200 -n 20000, GET hello world. */
  seed004: {
    source: 'seed 004: ab -k -c 200 -n 20000, Intel i7-7500U',
    baseline: 'nestjs-express',
    figures: [
      { subject: 'nestjs-express', requestsPerSecond: 4402, average: 45.4, transferred: 4.78 },
      { subject: 'nestjs-fastify', requestsPerSecond: 11_936, average: 16.8, transferred: 3.52 },
    ],
  },
}

/** Response times of one system with one version of Node, in milliseconds. */
export interface PublishedTimes {
  node: string
  subject: string
  average: number
  p95: number
}

/** Seed 001: k6 with 0 to 50 to 100 to 0 users over 70 s, five upstream calls per response. */
export const publishedTimes: { source: string; times: readonly PublishedTimes[] } = {
  source: 'seed 001: k6, 0 to 50 to 100 to 0 users in 70 s',
  times: [
    { node: '20', subject: 'nestjs-express-axios', average: 31.33, p95: 67.46 },
    { node: '20', subject: 'nestjs-fastify-axios', average: 26.28, p95: 57.52 },
    { node: '20', subject: 'nestjs-fastify-undici', average: 9.95, p95: 19.02 },
    { node: '22', subject: 'nestjs-express-axios', average: 31.44, p95: 56.22 },
    { node: '22', subject: 'nestjs-fastify-axios', average: 28.43, p95: 54.46 },
    { node: '22', subject: 'nestjs-fastify-undici', average: 10.74, p95: 16.9 },
    { node: '24', subject: 'nestjs-express-axios', average: 33.78, p95: 61.89 },
    { node: '24', subject: 'nestjs-fastify-axios', average: 34.08, p95: 61.43 },
    { node: '24', subject: 'nestjs-fastify-undici', average: 9.51, p95: 16.28 },
  ],
}
