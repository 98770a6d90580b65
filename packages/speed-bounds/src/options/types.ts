/**
 * Metric of a claim. `cpu`: server CPU per request over its whole process tree. `throughput`: requests per second.
 * `p99`: 99th percentile of latency. `rss`: resident memory of the process tree. `peakRss`: its peak. A ratio above 1
 * means that the contender is better, for all metrics.
 */
export type Metric = (typeof METRICS)[number]

export const METRICS = ['cpu', 'throughput', 'p99', 'rss', 'peakRss'] as const

/** Load generator. */
export type GeneratorName = (typeof GENERATORS)[number]
export const GENERATORS = ['autocannon', 'wrk'] as const

/** State of a subject while others are measured. */
export type IdleState = (typeof IDLE_STATES)[number]
export const IDLE_STATES = ['paused', 'running'] as const

/** Order of the heats of a stage. A heat is one process of each subject. */
export type HeatOrder = (typeof HEAT_ORDERS)[number]
export const HEAT_ORDERS = ['interleaved', 'successive'] as const

/**
 * A server under test: a file that Node runs (a path or a `file:` URL), or an object with more details.
 *
 * It reads `HOST` and `PORT` from its environment, responds over HTTP until SIGTERM, then exits. It runs with
 * `NODE_ENV=production` unless `env` sets another value.
 */
export type Subject = string | URL | FileSubject | CommandSubject

/** A server that Node runs. */
export interface FileSubject {
  /** Path or `file:` URL of the script. */
  file: string | URL
  /** Arguments for the script. @default [] */
  args?: readonly string[]
  /** Options for Node, such as `--max-old-space-size=256`. @default [] */
  nodeArgs?: readonly string[]
  /** Path of the Node that runs the script. @default process.execPath */
  execPath?: string
  /** Environment variables, in addition to those of this process. @default {} */
  env?: Readonly<Record<string, string>>
  /** Working directory. @default the race's `cwd` */
  cwd?: string
}

/** A server in any language: a command line. `{host}` and `{port}` in its arguments are replaced. */
export interface CommandSubject {
  /** Program and arguments. No shell reads them. */
  command: readonly [string, ...string[]]
  /** Environment variables, in addition to those of this process. @default {} */
  env?: Readonly<Record<string, string>>
  /** Working directory. @default the race's `cwd` */
  cwd?: string
}

/** The compared parts of a response. Header names are in lower case. */
export interface ComparedResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** One request, and its right response. */
export interface CaseOptions {
  /** Path and query string. */
  path: string
  /** HTTP method. @default 'GET' */
  method?: string
  /** Request headers. @default {} */
  headers?: Readonly<Record<string, string>>
  /** Request body. @default none */
  body?: string
  /** Response headers that all subjects must agree on, in addition to status and body. @default ['content-type'] */
  compareHeaders?: readonly string[]
  /** Expected status, headers and body. @default the response of the first subject, which must be a 2xx */
  expect?: Partial<ComparedResponse>
  /** Removes the parts of a response that can differ (a date, a request ID) before the comparison. @default none */
  normalize?: (response: ComparedResponse) => ComparedResponse
  /** Maximum share of requests that fail in a round: by an error, a timeout or another status. An object sets it for single subjects, and 0 for the others. @default 0 */
  maxErrorRate?: number | Readonly<Record<string, number>>
}

/** Options of the measurement method. The defaults suit most servers. Times are in milliseconds. */
export interface MeasurementOptions {
  /** Maximum warm-up of a process for each case. It ends earlier when CPU per request stops falling. @default 2000 */
  maxWarmUp?: number
  /** Minimum warm-up of a process for its first case, at most `maxWarmUp`. A third of it for each further case. Large programs need seconds until V8 has optimized their code. @default 1000 */
  minWarmUp?: number
  /** Rounds of each process in a stage, for each case. @default 8 */
  cycles?: number
  /** Maximum stages of a claim. Each stage starts fresh processes, which narrows the interval. @default 3 */
  stages?: number
  /** Order of heats. `'interleaved'`: all processes of a stage live at the same time. `'successive'`: one process of each subject lives at a time, so that none waits for long. Use it for servers with a large heap. @default 'interleaved' */
  heats?: HeatOrder
  /** Length of a turn. In rounds longer than a turn, the processes of a heat alternate with open connections, so that all see the same machine. Alternating needs Linux and autocannon, and does not work with `amount` or `idle: 'running'`. @default 200 */
  turn?: number
  /** State of a warm subject while others are measured. `'paused'`: stopped by SIGSTOP (not on Windows), it takes no CPU and stays warm. `'running'`: its loss by waiting is measured too. @default 'paused' */
  idle?: IdleState
  /** Interval in which the generator polls its connections instead of sleeping, in microseconds. It steadies CPU per request of small responses, and takes a core that no subject needs. autocannon only. 0: the generator sleeps. @default 0 */
  busyPoll?: number
  /** CPU of other programs above which a round is discarded, in cores. Of CPU that a hypervisor gave to other guests, three tenths of it suffice. @default 1 */
  maxForeignCpu?: number
}

/** The current step of a race, sent to `onProgress`. Times are in milliseconds. */
export interface Progress {
  phase: 'starting' | 'comparing' | 'warming' | 'measuring' | 'profiling'
  /** Name of the active subject. */
  subject: string
  /** Stage of the race. Each stage starts fresh processes. The first is 1. */
  stage: number
  /** Finished steps of this phase. */
  done: number
  /** All steps of this phase. */
  total: number
  /** Time since the stage began. */
  elapsed: number
  /** Estimated time until the end of this stage. */
  remaining: number
  /** CPU per request of the active subject in its rounds so far, in microseconds. Missing before the first. */
  cpu?: number
}

/** Options of {@link race}. Times are in milliseconds. */
export interface RaceOptions extends Partial<CaseOptions> {
  /** Several requests by name, instead of `path` and the other options of a single request. */
  cases?: Readonly<Record<string, CaseOptions>>
  /** Open connections during a round. With autocannon, the load begins when each has had a response, or after half of `requestTimeout`. @default 50 */
  connections?: number
  /** Pending requests on each connection. @default 1 */
  pipelining?: number
  /** Length of a measured round. On new connections, load that does not count precedes it, for three times as long and at most 1000. wrk has no such load, and rounds up to whole seconds. @default 200 */
  duration?: number
  /** Requests in a round, instead of `duration`. autocannon without pipelining only. @default none */
  amount?: number
  /** Time after which a request without a response has failed. Generators count it in whole seconds. @default 10000 */
  requestTimeout?: number
  /** Load generator. @default 'autocannon' */
  generator?: GeneratorName
  /** Processes of each subject in each stage. With fewer than 5, only large differences are found. @default 5 */
  replicas?: number
  /** Maximum share of wrong verdicts, over all looks at the data. @default 0.01 */
  alpha?: number
  /** Time limit of one claim, starts of servers included. @default 60000 */
  budget?: number
  /** Knobs of the measurement method. @default {} */
  measurement?: MeasurementOptions
  /** Maximum time until a subject responds over HTTP. @default 20000 */
  startTimeout?: number
  /** Time between SIGTERM and SIGKILL when a subject is stopped. @default 3000 */
  stopTimeout?: number
  /** Seed of the random order of rounds, to repeat it. @default random */
  seed?: number
  /** Base directory of relative paths of subjects. @default process.cwd() */
  cwd?: string
  /** Called before each step of the race. @default none */
  onProgress?: (progress: Progress) => void
}

/** A claim: the contender is at least `atLeast` times as good as another subject. */
export interface ClaimOptions {
  /** The bound. 1.5: half as good again. 0.9: at most a tenth worse. */
  atLeast: number
  /** Name of the better subject. @default the first subject that is not the other one */
  contender?: string
  /** Name of the case that decides. @default the first case */
  case?: string
  /** Metric that decides. @default both 'cpu' and 'throughput', unless the generator was the bottleneck */
  metric?: Metric
  /** Maximum share of wrong verdicts. @default the race's `alpha` */
  alpha?: number
  /** Time limit of this claim, in milliseconds. @default the race's `budget` */
  budget?: number
  /** Ends the race and its servers when it aborts. Its reason is thrown. @default in `toOutpace` the test's signal, so that a timeout of the test ends its race */
  signal?: AbortSignal
}
