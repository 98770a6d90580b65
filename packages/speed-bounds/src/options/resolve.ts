import { basename, isAbsolute, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { SpeedBoundsError } from '../errors.ts'
import type { Progress } from '../report/progress-line.ts'
import { canReadProc } from '../subject/process-tree.ts'
import { mostLooks } from '../race/schedule.ts'

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

export interface ResolvedSubject {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** The script, when Node runs it. */
  readonly file: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The command line as a person would write it. */
  readonly label: string
}

export interface ResolvedCase {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly compareHeaders: readonly string[]
  readonly expect: Partial<Answer> | undefined
  readonly normalise: ((answer: Answer) => Answer) | undefined
  /** Of each subject, or of those that are named. */
  readonly allowance: number | Readonly<Record<string, number>>
}

export interface ResolvedLoad {
  readonly generator: GeneratorName
  readonly busyPoll: number
  readonly connections: number
  readonly pipelining: number
  readonly duration: number
  readonly amount: number | undefined
  readonly requestTimeout: number
}

export interface ResolvedRace {
  readonly subjects: readonly ResolvedSubject[]
  readonly cases: readonly ResolvedCase[]
  readonly load: ResolvedLoad
  readonly replicas: number
  readonly warmUp: number
  readonly leastWarmUp: number
  readonly idle: IdleState
  readonly heats: HeatOrder
  /** As long as a round where that is had at one go. */
  readonly turn: number
  readonly cycles: number
  readonly stages: number
  readonly alpha: number
  readonly budget: number
  readonly startTimeout: number
  readonly stopTimeout: number
  readonly maxForeignCpu: number
  readonly seed: number
  readonly cwd: string
  readonly onProgress: (progress: Progress) => void
}

/** A claim with all that was left out filled in. */
export interface Claim {
  readonly contender: string
  readonly over: string
  readonly atLeast: number
  readonly case: string
  readonly metrics: readonly Metric[]
  readonly alpha: number
  /** How often the data may be looked at, all of which alpha pays for. */
  readonly looks: number
  readonly budget: number
}

const CASE_KEYS = ['path', 'method', 'headers', 'body', 'compareHeaders', 'expect', 'normalise', 'allowance']
const RACE_KEYS = [
  ...CASE_KEYS,
  'cases',
  'connections',
  'pipelining',
  'duration',
  'turn',
  'amount',
  'requestTimeout',
  'generator',
  'busyPoll',
  'replicas',
  'warmUp',
  'leastWarmUp',
  'idle',
  'heats',
  'cycles',
  'stages',
  'alpha',
  'budget',
  'startTimeout',
  'stopTimeout',
  'maxForeignCpu',
  'seed',
  'cwd',
  'onProgress',
]
const CLAIM_KEYS = ['atLeast', 'contender', 'case', 'metric', 'alpha', 'budget', 'signal']
const FILE_KEYS = ['file', 'args', 'nodeArgs', 'env', 'cwd']
const COMMAND_KEYS = ['command', 'env', 'cwd']

const SHARE = 'a share from 0 to 1'

export function resolveRace(subjects: Readonly<Record<string, Subject>>, options: RaceOptions): ResolvedRace {
  demand(isRecord(subjects), 'subjects', 'an object of subjects by name', subjects)
  demand(isRecord(options), 'options', 'an object', options)
  onlyKeys('options', options, RACE_KEYS)
  const names = Object.keys(subjects)
  demand(names.length >= 2, 'subjects', 'at least 2 subjects', names)
  // Objects list such keys first, whatever the order they were written in.
  const index = names.find((name) => /^\d+$/.test(name))
  demand(index === undefined, 'subjects', 'an object of subjects by name, which is not a number', index)

  const cwd = resolve(optional(options.cwd, 'cwd', isText, 'a path') ?? '.')
  const amount: number | undefined = optional(options.amount, 'amount', isCount, 'an integer >= 1')
  const generator = optional(options.generator, 'generator', isOneOf(GENERATORS), `one of ${GENERATORS.join(', ')}`)
  const connections = optional(options.connections, 'connections', isCount, 'an integer >= 1') ?? 50
  if (amount !== undefined) {
    demand(generator !== 'wrk', 'amount', 'no `amount` with the generator wrk, which counts seconds', amount)
    demand(
      options.pipelining === undefined || options.pipelining === 1,
      'amount',
      'no `amount` with pipelining, whose last requests autocannon drops',
      amount,
    )
    demand(amount >= connections, 'amount', `at least the number of connections (${connections})`, amount)
  }
  const busyPoll = optional(options.busyPoll, 'busyPoll', isPollInterval, 'whole microseconds from 0 to 1000') ?? 0
  demand(
    busyPoll === 0 || generator !== 'wrk',
    'busyPoll',
    'no `busyPoll` with the generator wrk, which sleeps',
    busyPoll,
  )
  const duration = optional(options.duration, 'duration', isMilliseconds(50), 'whole milliseconds >= 50') ?? 200
  const turn = optional(options.turn, 'turn', isMilliseconds(20), 'whole milliseconds >= 20') ?? 200
  const idle = optional(options.idle, 'idle', isOneOf(IDLE_STATES), `one of ${IDLE_STATES.join(', ')}`) ?? 'paused'
  const takesTurns = turn < duration && amount === undefined && generator !== 'wrk' && idle === 'paused' && canReadProc
  return {
    subjects: names.map((name) => resolveSubject(name, subjects[name], cwd)),
    cases: resolveCases(options, names),
    load: {
      generator: generator ?? 'autocannon',
      busyPoll,
      connections,
      pipelining: optional(options.pipelining, 'pipelining', isCount, 'an integer >= 1') ?? 1,
      duration,
      amount,
      requestTimeout:
        optional(options.requestTimeout, 'requestTimeout', isMilliseconds(1000), 'whole milliseconds >= 1000') ??
        10_000,
    },
    replicas: optional(options.replicas, 'replicas', isCountFrom(2), 'an integer >= 2') ?? 5,
    warmUp: optional(options.warmUp, 'warmUp', isMilliseconds(100), 'whole milliseconds >= 100') ?? 2000,
    leastWarmUp: optional(options.leastWarmUp, 'leastWarmUp', isMilliseconds(1), 'whole milliseconds >= 1') ?? 1200,
    idle,
    heats: optional(options.heats, 'heats', isOneOf(HEAT_ORDERS), `one of ${HEAT_ORDERS.join(', ')}`) ?? 'interleaved',
    turn: takesTurns ? turn : duration,
    cycles: optional(options.cycles, 'cycles', isCount, 'an integer >= 1') ?? 6,
    stages: optional(options.stages, 'stages', isCount, 'an integer >= 1') ?? 3,
    alpha: optional(options.alpha, 'alpha', isAlpha, 'a number above 0 and at most 0.2') ?? 0.01,
    budget: optional(options.budget, 'budget', isMilliseconds(1), 'whole milliseconds >= 1') ?? 60_000,
    startTimeout:
      optional(options.startTimeout, 'startTimeout', isMilliseconds(1), 'whole milliseconds >= 1') ?? 20_000,
    stopTimeout: optional(options.stopTimeout, 'stopTimeout', isMilliseconds(0), 'whole milliseconds >= 0') ?? 3000,
    maxForeignCpu: optional(options.maxForeignCpu, 'maxForeignCpu', isAtLeast(0), 'a number of cores >= 0') ?? 1,
    seed: optional(options.seed, 'seed', isInteger, 'an integer') ?? Math.trunc(Math.random() * 2 ** 31),
    cwd,
    onProgress: optional(options.onProgress, 'onProgress', isProgressListener, 'a function') ?? (() => {}),
  }
}

export function resolveClaim(race: ResolvedRace, over: string, options: ClaimOptions): Claim {
  const names = race.subjects.map(({ name }) => name)
  const cases = race.cases.map(({ name }) => name)
  demand(isRecord(options), 'claim', 'an object with `atLeast`', options)
  onlyKeys('claim', options, CLAIM_KEYS)
  demand(isPositive(options.atLeast), 'atLeast', 'a finite number > 0', options.atLeast)
  const contender =
    optional(options.contender, 'contender', isOneOf(names), `one of ${names.join(', ')}`) ??
    names.find((name) => name !== over)!
  demand(
    names.includes(over) && over !== contender,
    'over',
    `another subject than ${contender}: one of ${names.join(', ')}`,
    over,
  )
  const metric = optional(options.metric, 'metric', isOneOf(METRICS), `one of ${METRICS.join(', ')}`)
  return {
    contender,
    over,
    atLeast: options.atLeast,
    case: optional(options.case, 'case', isOneOf(cases), `one of ${cases.join(', ')}`) ?? cases[0]!,
    metrics: metric ? [metric] : ['cpu', 'throughput'],
    alpha: optional(options.alpha, 'alpha', isAlpha, 'a number above 0 and at most 0.2') ?? race.alpha,
    looks: mostLooks(race.stages),
    budget: optional(options.budget, 'budget', isMilliseconds(1), 'whole milliseconds >= 1') ?? race.budget,
  }
}

/** The signal that may end what is under way, or one that never aborts. */
export function resolveSignal(options: { signal?: AbortSignal }): AbortSignal {
  demand(isRecord(options), 'options', 'an object', options)
  return optional(options.signal, 'signal', isSignal, 'an AbortSignal') ?? new AbortController().signal
}

function resolveSubject(name: string, subject: Subject | undefined, cwd: string): ResolvedSubject {
  const at = `subjects.${name}`
  if (isText(subject) || subject instanceof URL) return resolveSubject(name, { file: subject }, cwd)
  const expected = 'a path, a file URL, { file } or { command }'
  demand(isRecord(subject), at, expected, subject)
  const directory = resolve(cwd, optional(subject.cwd, `${at}.cwd`, isText, 'a path') ?? '.')
  const env = optional(subject.env, `${at}.env`, isTexts, 'an object of strings') ?? {}
  if ('command' in subject) {
    onlyKeys(at, subject, COMMAND_KEYS)
    const { command } = subject
    demand(isProgram(command), `${at}.command`, 'an array: the program and its arguments', command)
    return { name, command, file: undefined, env, cwd: directory, label: command.join(' ') }
  }
  demand('file' in subject, at, expected, subject)
  onlyKeys(at, subject, FILE_KEYS)
  const { file } = subject
  demand(isText(file) || isLocalFile(file), `${at}.file`, 'a path or a file URL', file)
  const args = optional(subject.args, `${at}.args`, isTextList, 'an array of strings') ?? []
  const nodeArgs = optional(subject.nodeArgs, `${at}.nodeArgs`, isTextList, 'an array of strings') ?? []
  const path = isText(file) ? resolve(directory, file) : fileURLToPath(file)
  const shown = relative(cwd, path)
  return {
    name,
    command: [process.execPath, ...nodeArgs, path, ...args],
    file: path,
    env,
    cwd: directory,
    label: ['node', ...nodeArgs, isAbsolute(shown) || shown.startsWith('..') ? basename(path) : shown, ...args].join(
      ' ',
    ),
  }
}

function resolveCases(options: RaceOptions, subjects: readonly string[]): ResolvedCase[] {
  const { cases } = options
  if (cases === undefined) {
    demand(options.path !== undefined, 'path', 'the path to request, or `cases`', options.path)
    const own = Object.entries(options).filter(([key, value]) => CASE_KEYS.includes(key) && value !== undefined)
    return [resolveCase(undefined, '', Object.fromEntries(own), subjects)]
  }
  demand(isRecord(cases) && Object.keys(cases).length > 0, 'cases', 'an object of cases by name', cases)
  const doubled = CASE_KEYS.filter((key) => key in options)
  demand(doubled.length === 0, 'cases', `either \`cases\` or \`${doubled[0]}\`, not both`, Object.keys(cases))
  return Object.entries(cases).map(([name, value]) => {
    demand(isRecord(value), `cases.${name}`, 'an object with `path`', value)
    onlyKeys(`cases.${name}`, value, CASE_KEYS)
    return resolveCase(name, `cases.${name}.`, value, subjects)
  })
}

function resolveCase(
  name: string | undefined,
  at: string,
  options: Record<string, unknown>,
  subjects: readonly string[],
): ResolvedCase {
  const { path } = options
  demand(isText(path) && path.startsWith('/'), `${at}path`, 'a path that starts with /', path)
  const method = (optional(options['method'], `${at}method`, isText, 'an HTTP method') ?? 'GET').toUpperCase()
  const headers = optional(options['compareHeaders'], `${at}compareHeaders`, isTextList, 'an array of header names')
  const expect = resolveExpected(options['expect'], `${at}expect`)
  const compared = [...(headers ?? ['content-type']), ...Object.keys(expect?.headers ?? {})]
  return {
    name: name ?? `${method} ${path}`,
    path,
    method,
    headers: optional(options['headers'], `${at}headers`, isTexts, 'an object of strings') ?? {},
    body: optional(options['body'], `${at}body`, isString, 'a string'),
    compareHeaders: [...new Set(compared.map((header) => header.toLowerCase()))],
    expect,
    normalise: optional(options['normalise'], `${at}normalise`, isNormaliser, 'a function'),
    allowance: resolveAllowance(options['allowance'], `${at}allowance`, subjects),
  }
}

function resolveAllowance(value: unknown, at: string, subjects: readonly string[]): ResolvedCase['allowance'] {
  if (!isRecord(value)) return optional(value, at, isShare, `${SHARE}, or an object of them by subject`) ?? 0
  onlyKeys(at, value, subjects)
  const shares = Object.entries(value).map(([name, share]) => [
    name,
    optional(share, `${at}.${name}`, isShare, SHARE) ?? 0,
  ])
  return Object.fromEntries(shares) as Record<string, number>
}

function resolveExpected(value: unknown, at: string): Partial<Answer> | undefined {
  const expected = optional(value, at, isRecord, 'an object of status, headers, body')
  if (!expected) return undefined
  onlyKeys(at, expected, ['status', 'headers', 'body'])
  const status = optional(expected['status'], `${at}.status`, isStatus, 'an HTTP status')
  const headers = optional(expected['headers'], `${at}.headers`, isTexts, 'an object of strings')
  const body = optional(expected['body'], `${at}.body`, isString, 'a string')
  return {
    ...(status === undefined ? {} : { status }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text])) }),
    ...(body === undefined ? {} : { body }),
  }
}

/** Throws the one error of this file: what was expected, and what came. */
function demand(holds: boolean, name: string, expected: string, got: unknown): asserts holds {
  if (holds) return
  const kind = got === null ? 'null' : Array.isArray(got) ? 'array' : typeof got
  throw new SpeedBoundsError(
    'SPEED_BOUNDS_INVALID_OPTION',
    `Expected \`${name}\` to be ${expected}, got ${show(got).slice(0, 200)} (${kind})`,
  )
}

function show(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value === 'number' || typeof value === 'bigint' || value === undefined) return String(value)
  try {
    return JSON.stringify(value) ?? inspect(value)
  } catch {
    // It holds itself, or a bigint.
    return inspect(value, { depth: 1 })
  }
}

function optional<T>(
  value: unknown,
  name: string,
  is: (value: unknown) => value is T,
  expected: string,
): T | undefined {
  if (value === undefined) return undefined
  demand(is(value), name, expected, value)
  return value
}

function onlyKeys(name: string, value: object, keys: readonly string[]): void {
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  demand(unknown === undefined, name, `an object with no other keys than ${keys.join(', ')}`, unknown)
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isProgressListener = (value: unknown): value is ResolvedRace['onProgress'] => typeof value === 'function'
const isNormaliser = (value: unknown): value is (answer: Answer) => Answer => typeof value === 'function'
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof URL)
const isSignal = (value: unknown): value is AbortSignal => value instanceof AbortSignal
const isString = (value: unknown): value is string => typeof value === 'string'
const isLocalFile = (value: unknown): value is URL =>
  value instanceof URL && value.protocol === 'file:' && (value.host === '' || process.platform === 'win32')
const isStatus = (value: unknown): value is number => isInteger(value) && value >= 100 && value <= 599
const isTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((entry) => typeof entry === 'string')
const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string')
const isProgram = (value: unknown): value is [string, ...string[]] => isTextList(value) && value.length > 0
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isPositive = (value: unknown): value is number => isNumber(value) && value > 0
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)
const isAtLeast =
  (least: number) =>
  (value: unknown): value is number =>
    isNumber(value) && value >= least
const isCountFrom =
  (least: number) =>
  (value: unknown): value is number =>
    isInteger(value) && value >= least
const isCount = isCountFrom(1)
/** What timers take: 2^31 - 1 ms is the longest. */
const isMilliseconds =
  (least: number) =>
  (value: unknown): value is number =>
    isInteger(value) && value >= least && value < 2 ** 31
const isPollInterval = (value: unknown): value is number => isInteger(value) && value >= 0 && value <= 1000
const isShare = (value: unknown): value is number => isNumber(value) && value >= 0 && value <= 1
const isAlpha = (value: unknown): value is number => isNumber(value) && value > 0 && value <= 0.2
const isOneOf =
  <T extends string>(names: readonly T[]) =>
  (value: unknown): value is T =>
    names.includes(value as T)
