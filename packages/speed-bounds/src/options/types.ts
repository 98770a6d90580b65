/**
 * What a claim may compare. `cpu`: server CPU microseconds per request over its whole process tree;
 * `throughput`: requests per second; `p99`: 99th percentile of latency; `rss`: resident memory of the
 * process tree; `peakRss`: the most it ever had. Whatever the metric, a ratio above 1 means that the
 * contender is better.
 */
export type Metric = (typeof METRICS)[number]

export const METRICS = ['cpu', 'throughput', 'p99', 'rss', 'peakRss'] as const

/** Load generators that can be asked for by name. */
export type GeneratorName = (typeof GENERATORS)[number]
export const GENERATORS = ['autocannon', 'wrk'] as const

/** What a subject does while others are measured. */
export type IdleState = (typeof IDLE_STATES)[number]
export const IDLE_STATES = ['paused', 'running'] as const

/** In which order processes live and are measured: a heat is one process of each subject. */
export type HeatOrder = (typeof HEAT_ORDERS)[number]
export const HEAT_ORDERS = ['interleaved', 'successive'] as const

/**
 * A server to measure: a file that Node runs (a path, or a `file:` URL), or an object that says more.
 *
 * It reads `HOST` and `PORT` from its environment, answers HTTP there until SIGTERM, then exits.
 * It runs with `NODE_ENV=production` unless `env` says otherwise.
 */
export type Subject = string | URL | FileSubject | CommandSubject

/** A server that Node runs. */
export interface FileSubject {
  /** Path or `file:` URL of the script. */
  file: string | URL
  /** Arguments for the script. @default [] */
  args?: readonly string[]
  /** Options for Node itself, such as `--max-old-space-size=256`. @default [] */
  nodeArgs?: readonly string[]
  /** Variables set beside those of this process. @default {} */
  env?: Readonly<Record<string, string>>
  /** Working directory. @default the race's `cwd` */
  cwd?: string
}

/** A server in any language: a command line. `{host}` and `{port}` in an argument are filled in. */
export interface CommandSubject {
  /** The program and its arguments; no shell reads them. */
  command: readonly [string, ...string[]]
  /** Variables set beside those of this process. @default {} */
  env?: Readonly<Record<string, string>>
  /** Working directory. @default the race's `cwd` */
  cwd?: string
}

/** What a server answered. Header names are in lower case. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

/** One request, and what a right answer looks like. */
export interface CaseOptions {
  /** Path and query string. */
  path: string
  /** HTTP method. @default 'GET' */
  method?: string
  /** Request headers. @default {} */
  headers?: Readonly<Record<string, string>>
  /** Request body. @default none */
  body?: string
  /** Answer headers that all subjects must agree on, beside status and body. @default ['content-type'] */
  compareHeaders?: readonly string[]
  /** What the answer must be. @default what the first subject answers, which must be a 2xx */
  expect?: Partial<Answer>
  /** Takes out of an answer what may differ (a date, a request id) before answers are compared. */
  normalise?: (answer: Answer) => Answer
  /** Share of a round's requests that may fail: no answer, a timeout, another status; or such shares of subjects by name, and none of the others. @default 0 */
  allowance?: number | Readonly<Record<string, number>>
}

/** The current step of a race, sent to `onProgress`. Times are in milliseconds. */
export interface Progress {
  phase: 'starting' | 'comparing' | 'warming' | 'measuring'
  /** Name of the active subject. */
  subject: string
  /** Stage of the race: each starts fresh processes. The first is 1. */
  stage: number
  /** Finished steps of this phase, and their total. */
  done: number
  total: number
  /** Time since the stage began. */
  elapsed: number
  /** Estimated time until the end of this stage. */
  remaining: number
}

/** Options of {@link race}. Times are in milliseconds. */
export interface RaceOptions extends Partial<CaseOptions> {
  /** Several requests by name, in place of `path` and what belongs to it. */
  cases?: Readonly<Record<string, CaseOptions>>
  /** Connections kept open during a round. With autocannon, the load begins when each has had an answer, or after half of `requestTimeout`. @default 50 */
  connections?: number
  /** Requests under way on each connection. @default 1 */
  pipelining?: number
  /** Length of a measured round, longer while the server pauses. Before it comes load that does not count, for three times as long and a second at the most; with wrk, which counts whole seconds and rounds up, there is none. @default 200 */
  duration?: number
  /** Milliseconds that a subject is under load at a time. In longer rounds, processes of different subjects take turns with their connections open, until one has had its `duration`, so that all see the machine in the same state; not with `amount`, with wrk, with `idle: 'running'`, or where CPU cannot be read in nanoseconds (Linux). @default 200 */
  turn?: number
  /** Requests in a round, in place of `duration`; autocannon without pipelining only. @default none */
  amount?: number
  /** When a request without an answer counts as failed; generators count it in whole seconds. @default 10000 */
  requestTimeout?: number
  /** The load generator. @default 'autocannon' */
  generator?: GeneratorName
  /** Microseconds between two looks of the generator at its connections, if it is to stay awake in between: then no write of the server has to wake it, which makes CPU per request of small answers many times steadier. It takes a core that no subject needs; autocannon only. With 0 it sleeps until an answer comes. @default 0 */
  busyPoll?: number
  /** Processes started of each subject in each stage; fewer than 5 are at the mercy of chance. @default 5 */
  replicas?: number
  /** Longest warm-up of a process per case; it ends earlier when CPU per request no longer falls. @default 2000 */
  warmUp?: number
  /** Least warm-up of a process for its first case, within the longest; a third of it for each further one. Large programs take seconds until all their code is optimised. @default 1200 */
  leastWarmUp?: number
  /** What a warm subject does while others are measured: it is `'paused'` (SIGSTOP; not on Windows), takes no CPU from them and stays warm, or goes on `'running'`, and what it loses by waiting is measured too. @default 'paused' */
  idle?: IdleState
  /** Whether all processes of a stage live at once and are visited by turns (`'interleaved'`), or one of each subject at a time, warmed by turns, visited `cycles` times and ended before the next are started (`'successive'`): then none waits for long, which servers with a large heap pay for. @default 'interleaved' */
  heats?: HeatOrder
  /** How often each process is visited in a stage. @default 6 */
  cycles?: number
  /** Stages that a claim may take at the most: each brings fresh processes and a narrower interval. @default 3 */
  stages?: number
  /** Share of wrong verdicts that is accepted, over all looks at the data. @default 0.01 */
  alpha?: number
  /** Time that one claim may take. A look is taken even if that takes longer. @default 60000 */
  budget?: number
  /** How long a subject may take until it answers over HTTP. @default 20000 */
  startTimeout?: number
  /** How long a subject may take to end after SIGTERM before it is killed. @default 3000 */
  stopTimeout?: number
  /** CPU of other programs, in cores, above which a round is discarded. @default 1 */
  maxForeignCpu?: number
  /** Start of the random order of rounds, to repeat it. @default random */
  seed?: number
  /** Where relative paths of subjects start. @default process.cwd() */
  cwd?: string
  /** Called with what the race is doing. */
  onProgress?: (progress: Progress) => void
}

/** A claim: the contender is at least `atLeast` times as good as the subject it is held against. */
export interface ClaimOptions {
  /** The bound: 1.5 means half as good again, 0.9 means at most a tenth worse. */
  atLeast: number
  /** Who is claimed to be better. @default the first subject that is not the one it is held against */
  contender?: string
  /** Which case decides. @default the first case */
  case?: string
  /** What is compared. @default both 'cpu' and 'throughput', unless the generator was the bottleneck */
  metric?: Metric
  /** Share of wrong verdicts that is accepted. @default the race's `alpha` */
  alpha?: number
  /** Time that this claim may take, in milliseconds. @default the race's `budget` */
  budget?: number
  /** Ends the race and its servers when it aborts; its reason is thrown. @default in `toOutpace` the test's own, so that a test's timeout ends its race */
  signal?: AbortSignal
}
