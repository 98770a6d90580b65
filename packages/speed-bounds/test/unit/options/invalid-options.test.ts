import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  type CaseOptions,
  type ClaimOptions,
  errorCodes,
  race,
  type RaceOptions,
  SpeedBoundsError,
  type Subject,
} from '../../../src/index.ts'
import { resolveClaim } from '../../../src/options/resolve-claim.ts'
import { resolveRace } from '../../../src/options/resolve.ts'

/** The noun phrase of the expected values, and values that are none of them. */
type Row = readonly [expected: string, ...values: unknown[]]

const SUBJECTS = { a: './a.ts', b: './b.ts' }

const NO_OBJECTS = [null, 'text', [1], () => 1]
const NO_NUMBERS = ['5', null, true, Number.NaN, Number.POSITIVE_INFINITY, [5], 5n]
const NO_TEXTS = [5, null, ['/'], Symbol('text')]
const NO_FUNCTIONS = ['text', {}, null]
const NO_LISTS = ['text', {}, null]
/** Values below a bound, and values that no integer option takes. */
const noIntegers = (min: number): unknown[] => [...NO_NUMBERS, min + 0.5, min - 1]

const count = (min = 1): Row => [`an integer of at least ${min}`, ...noIntegers(min)]
const milliseconds = (min: number): Row => [
  `milliseconds, an integer from ${min} to 2147483647`,
  ...noIntegers(min),
  2 ** 31,
]
const STRINGS: Row = ['an object, each value a string', ...NO_OBJECTS]
const LIST: Row = ['an array, each item a string', ...NO_LISTS]
const ALPHA: Row = ['a number above 0 and at most 0.2', ...NO_NUMBERS, 0, -0.01, 0.21]

const CASE_OPTIONS: Record<string, Row> = {
  path: ['a path that starts with "/"', ...NO_TEXTS, '', 'x', 'http://localhost/'],
  method: ['an HTTP method', ...NO_TEXTS, ''],
  headers: STRINGS,
  'headers.accept': ['a string', 5],
  body: ['a string', ...NO_TEXTS],
  compareHeaders: LIST,
  expect: ['an object', ...NO_OBJECTS],
  'expect.status': ['an integer from 100 to 599', '200', Number.NaN, 99, 600],
  'expect.headers': STRINGS,
  'expect.body': ['a string', { ok: true }],
  normalize: ['a function', ...NO_FUNCTIONS],
  maxErrorRate: ['a number from 0 to 1 or an object, each value a number from 0 to 1', ...NO_NUMBERS, -0.01, 1.01],
  'maxErrorRate.a': ['a number from 0 to 1', 5, '1', null],
}

const RACE_OPTIONS: Record<string, Row> = {
  cases: ['an object, each value an object', ...NO_OBJECTS],
  connections: count(),
  pipelining: count(),
  duration: milliseconds(50),
  amount: count(),
  requestTimeout: milliseconds(1000),
  generator: ['"autocannon" or "wrk"', ...NO_TEXTS, '', 'wrk2'],
  replicas: count(2),
  alpha: ALPHA,
  budget: milliseconds(1),
  measurement: ['an object', ...NO_OBJECTS],
  startTimeout: milliseconds(1),
  stopTimeout: milliseconds(0),
  seed: ['an integer', ...NO_NUMBERS, 0.5],
  cwd: ['a path', ...NO_TEXTS, ''],
  onProgress: ['a function', ...NO_FUNCTIONS],
}

const MEASUREMENT_OPTIONS: Record<string, Row> = {
  maxWarmUp: milliseconds(100),
  minWarmUp: milliseconds(1),
  cycles: count(),
  stages: count(),
  heats: ['"interleaved" or "successive"', ...NO_TEXTS, 'together'],
  turn: milliseconds(20),
  idle: ['"paused" or "running"', ...NO_TEXTS, 'stopped'],
  busyPoll: ['microseconds, an integer from 0 to 1000', '60', null, -1, 0.5, 1001],
  maxForeignCpu: ['a number of at least 0', ...NO_NUMBERS, -0.1],
}

const CLAIM_OPTIONS: Record<string, Row> = {
  atLeast: ['a number above 0', ...NO_NUMBERS, undefined, 0, -1.5],
  contender: ['a string', ...NO_TEXTS],
  case: ['a string', ...NO_TEXTS],
  metric: ['"cpu" or "throughput" or "p99" or "rss" or "peakRss"', ...NO_TEXTS, 'p50'],
  alpha: ALPHA,
  budget: milliseconds(1),
  signal: ['an instance of AbortSignal', null, 5000, { aborted: false }],
}

const FILE_SUBJECT: Record<string, Row> = {
  file: ['a path or a file URL', ...NO_TEXTS, '', undefined, new URL('http://localhost/a.ts')],
  args: LIST,
  nodeArgs: LIST,
  execPath: ['a path', ...NO_TEXTS, ''],
  env: STRINGS,
  cwd: ['a path', ...NO_TEXTS, ''],
}

const COMMAND_SUBJECT: Record<string, Row> = {
  command: ['an array of strings: the program and its arguments', ...NO_LISTS, [], [1], undefined],
  env: STRINGS,
  cwd: ['a path', ...NO_TEXTS, ''],
}

/** One row per wrong value. */
function rowsOf(table: Record<string, Row>): [name: string, shown: string, expected: string, value: unknown][] {
  return Object.entries(table).flatMap(([name, [expected, ...values]]) =>
    values.map((value): [string, string, string, unknown] => [name, shown(value), expected, value]),
  )
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (value instanceof URL) return 'an instance of URL'
  if (typeof value === 'object' && value !== null) return 'an object'
  return ['function', 'symbol'].includes(typeof value) ? `a ${typeof value}` : String(value)
}

/** `{ expect: { status: value } }` for `expect.status`. */
function nested(name: string, value: unknown): Record<string, unknown> {
  return name.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>
}

// TypeScript would reject the values of these tests.
const asRace = (options: unknown): RaceOptions => options as RaceOptions
const asCase = (options: unknown): CaseOptions => options as CaseOptions
const asClaim = (options: unknown): ClaimOptions => options as ClaimOptions
const asSubject = (subject: unknown): Subject => subject as Subject
const asSubjects = (subjects: unknown): Record<string, Subject> => subjects as Record<string, Subject>

/** The error of an invalid option, with this message. */
function invalid(message: string): unknown {
  return expect.objectContaining({ name: 'SpeedBoundsError', code: 'SPEED_BOUNDS_INVALID_OPTION', message })
}

const unexpected = (name: string, expected: string, got: string): unknown =>
  invalid(`Invalid option "${name}": expected ${expected}, got ${got}.`)

it('an invalid option is an error of its class', () => {
  const invalidRace = (): unknown => race(SUBJECTS, { path: '/', connections: 0 })
  expect(invalidRace).toThrow(SpeedBoundsError)
  expect(invalidRace).toThrow(errorCodes.SPEED_BOUNDS_INVALID_OPTION)
  expect(invalidRace).not.toThrow(errorCodes.SPEED_BOUNDS_PORT_TAKEN)
})

describe('race() rejects options', () => {
  it.each(rowsOf(RACE_OPTIONS))('%s: %s', (name, got, expected, value) => {
    const path = name === 'cases' ? {} : { path: '/' }
    expect(() => race(SUBJECTS, asRace({ ...path, [name]: value }))).toThrow(unexpected(name, expected, got))
  })

  it.each(rowsOf(MEASUREMENT_OPTIONS))('measurement.%s: %s', (name, got, expected, value) => {
    expect(() => race(SUBJECTS, asRace({ path: '/', measurement: { [name]: value } }))).toThrow(
      unexpected(`measurement.${name}`, expected, got),
    )
  })

  it.each(rowsOf(CASE_OPTIONS))('%s: %s', (name, got, expected, value) => {
    expect(() => race(SUBJECTS, asRace({ path: '/', ...nested(name, value) }))).toThrow(unexpected(name, expected, got))
  })

  it.each(rowsOf(CASE_OPTIONS))('cases.slow.%s: %s', (name, got, expected, value) => {
    const cases = { quick: { path: '/' }, slow: asCase({ path: '/', ...nested(name, value) }) }
    expect(() => race(SUBJECTS, { cases })).toThrow(unexpected(`cases.slow.${name}`, expected, got))
  })

  it.each(NO_OBJECTS.map((value) => [shown(value), value]))('that are %s', (got, value) => {
    expect(() => race(SUBJECTS, asRace(value))).toThrow(invalid(`Invalid options: expected an object, got ${got}.`))
  })

  it('without a path and cases', () => {
    expect(() => race(SUBJECTS, {})).toThrow(unexpected('path', 'a path, or "cases"', 'undefined'))
  })

  it('with both cases and an option of a single request', () => {
    const options = { cases: { only: { path: '/' } }, method: 'POST' }
    expect(() => race(SUBJECTS, options)).toThrow(unexpected('cases', 'either "cases" or "method"', '"both"'))
  })

  it('with empty cases', () => {
    expect(() => race(SUBJECTS, { cases: {} })).toThrow(unexpected('cases', 'at least one case', '0'))
  })

  it('with an error rate of an unknown subject', () => {
    expect(() => race(SUBJECTS, { path: '/', maxErrorRate: { c: 0.1 } })).toThrow(
      unexpected('maxErrorRate', 'rates of a, b', '"c"'),
    )
    expect(() => race(SUBJECTS, { cases: { one: { path: '/', maxErrorRate: { c: 0.1 } } } })).toThrow(
      unexpected('cases.one.maxErrorRate', 'rates of a, b', '"c"'),
    )
  })

  it('with busy polling of wrk, which always sleeps', () => {
    const wrk = { path: '/', generator: 'wrk' } as const
    expect(() => race(SUBJECTS, { ...wrk, measurement: { busyPoll: 60 } })).toThrow(
      unexpected('measurement.busyPoll', '0 with wrk, which always sleeps', '60'),
    )
    expect(resolveRace(SUBJECTS, { ...wrk, measurement: { busyPoll: 0 } }).load.busyPoll).toBe(0)
  })

  it.each<[options: Partial<RaceOptions>, expected: string, amount: number]>([
    [{ generator: 'wrk' }, 'no amount with wrk, which counts seconds', 1000],
    [{ pipelining: 2 }, 'no amount with pipelining, where autocannon drops requests', 1000],
    [{}, 'at least the number of connections, 50', 49],
  ])('with %j and an amount', (options, expected, amount) => {
    expect(() => race(SUBJECTS, { path: '/', ...options, amount })).toThrow(
      unexpected('amount', expected, String(amount)),
    )
  })

  it.each([
    ['conections', 'connections', asRace({ path: '/', conections: 50 })],
    ['cases.only.headrs', 'headers', asRace({ cases: { only: { path: '/', headrs: {} } } })],
    ['expect.statu', 'status', asRace({ path: '/', expect: { statu: 200 } })],
    ['measurement.cycle', 'cycles', asRace({ path: '/', measurement: { cycle: 2 } })],
  ])('with the unknown key %s, and suggests %s', (name, suggestion, options) => {
    expect(() => race(SUBJECTS, options)).toThrow(
      invalid(`Invalid option "${name}": unknown. Did you mean "${suggestion}"?`),
    )
  })

  it.each([
    ['warmUp', 'measurement.maxWarmUp'],
    ['leastWarmUp', 'measurement.minWarmUp'],
    ['cycles', 'measurement.cycles'],
    ['stages', 'measurement.stages'],
    ['heats', 'measurement.heats'],
    ['turn', 'measurement.turn'],
    ['idle', 'measurement.idle'],
    ['busyPoll', 'measurement.busyPoll'],
    ['maxForeignCpu', 'measurement.maxForeignCpu'],
    ['allowance', 'maxErrorRate'],
    ['normalise', 'normalize'],
  ])('with the old name %s, and says the new one', (old, name) => {
    expect(() => race(SUBJECTS, asRace({ path: '/', [old]: 1 }))).toThrow(
      invalid(`Invalid option "${old}": renamed to "${name}".`),
    )
  })

  it.each([null, 5, 'text'])('with a case that is %j', (value) => {
    expect(() => race(SUBJECTS, { cases: { only: asCase(value) } })).toThrow(
      unexpected('cases.only', 'an object', shown(value)),
    )
  })
})

it('race() takes an empty body', () => {
  expect(resolveRace(SUBJECTS, { path: '/', body: '' }).cases[0]!.body).toBe('')
})

describe('race() rejects subjects', () => {
  it.each(NO_OBJECTS.map((value) => [shown(value), value]))('that are %s', (got, value) => {
    expect(() => race(asSubjects(value), { path: '/' })).toThrow(
      unexpected('subjects', 'an object of subjects by name', got),
    )
  })

  it.each([{}, { a: './a.ts' }])('that are fewer than two: %j', (subjects) => {
    expect(() => race(subjects, { path: '/' })).toThrow(
      unexpected('subjects', 'at least 2 subjects', String(Object.keys(subjects).length)),
    )
  })

  it('whose name is a number', () => {
    expect(() => race({ a: './a.ts', 1: './b.ts' }, { path: '/' })).toThrow(
      unexpected('subjects', 'names that are not numbers', '"1"'),
    )
  })

  it.each(['', 5, null, ['./b.ts'], () => './b.ts', { env: {} }].map((value) => [shown(value), value]))(
    'of which one is %s',
    (got, value) => {
      expect(() => race({ a: './a.ts', b: asSubject(value) }, { path: '/' })).toThrow(
        unexpected('subjects.b', 'a path, a file URL, or an object with "file" or "command"', got),
      )
    },
  )

  it.each(rowsOf(FILE_SUBJECT))('with a file and %s: %s', (name, got, expected, value) => {
    const subject = asSubject({ file: './b.ts', [name]: value })
    expect(() => race({ a: './a.ts', b: subject }, { path: '/' })).toThrow(
      unexpected(`subjects.b.${name}`, expected, got),
    )
  })

  // On Windows that is a path on a share.
  it.skipIf(process.platform === 'win32')('with a file URL of another host', () => {
    const file = new URL('file://elsewhere/b.ts')
    expect(() => race({ a: './a.ts', b: file }, { path: '/' })).toThrow(
      unexpected('subjects.b.file', 'a path or a file URL', 'an instance of URL'),
    )
  })

  it.each(rowsOf(COMMAND_SUBJECT))('with a command and %s: %s', (name, got, expected, value) => {
    const subject = asSubject({ command: ['./b', '{port}'], [name]: value })
    expect(() => race({ a: './a.ts', b: subject }, { path: '/' })).toThrow(
      unexpected(`subjects.b.${name}`, expected, got),
    )
  })

  it.each([
    ['nodeArg', { file: './b.ts', nodeArg: [] }, 'Did you mean "nodeArgs"?'],
    ['file', { command: ['./b'], file: './b.ts' }, 'Known here: command, env, cwd.'],
  ])('with the unknown key %s', (key, subject, advice) => {
    expect(() => race({ a: './a.ts', b: asSubject(subject) }, { path: '/' })).toThrow(
      invalid(`Invalid option "subjects.b.${key}": unknown. ${advice}`),
    )
  })
})

describe('decide() rejects', () => {
  const decide = async (over: unknown, claim: unknown): Promise<unknown> =>
    race(SUBJECTS, { path: '/' }).decide(over as string, asClaim(claim))

  it.each(rowsOf(CLAIM_OPTIONS))('%s: %s', async (name, got, expected, value) => {
    await expect(decide('b', { atLeast: 1, [name]: value })).rejects.toThrow(unexpected(name, expected, got))
  })

  it.each(NO_OBJECTS.map((value) => [shown(value), value]))('claims that are %s', async (got, value) => {
    await expect(decide('b', value)).rejects.toThrow(invalid(`Invalid options: expected an object, got ${got}.`))
  })

  it.each([
    ['contender', 'one of a, b', 'c'],
    ['case', 'one of GET /', 'POST /'],
  ])('an unknown %s', async (name, expected, value) => {
    await expect(decide('b', { atLeast: 1, [name]: value })).rejects.toThrow(
      unexpected(name, expected, JSON.stringify(value)),
    )
  })

  it('an unknown key', async () => {
    await expect(decide('b', { atLeast: 1, atleast: 1 })).rejects.toThrow(
      invalid('Invalid option "atleast": unknown. Did you mean "atLeast"?'),
    )
  })

  it.each(['c', '', 1, undefined])('%j in place of another subject', async (over) => {
    await expect(decide(over, { atLeast: 1 })).rejects.toThrow(unexpected('over', 'one of b', shown(over)))
  })

  it('a comparison of the contender with itself', async () => {
    await expect(decide('b', { atLeast: 1, contender: 'b' })).rejects.toThrow(unexpected('over', 'one of a', '"b"'))
  })
})

it.each(['measure', 'compareResponses'] as const)('%s() rejects a signal that is none', async (method) => {
  const run = race(SUBJECTS, { path: '/' })[method]({ signal: asClaim(null) as unknown as AbortSignal })
  await expect(run).rejects.toThrow(unexpected('signal', 'an instance of AbortSignal', 'null'))
})

/** The options of an interface, with the text after `@default`. */
function documented(name: string): Map<string, string | undefined> {
  const source = readFileSync(new URL('../../../src/options/types.ts', import.meta.url), 'utf8')
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(source)![1]!
  const options = [...body.matchAll(/\/\*\*(.*?)\*\/\s*(\w+)\??:/gs)].map(
    ([, comment, option]): [string, string | undefined] => [option!, /@default (.*?)\s*$/s.exec(comment!)?.[1]],
  )
  return new Map(options)
}

/** The defaults that are values. */
function valuesOf(name: string): [option: string, value: unknown][] {
  return [...documented(name)].flatMap(([option, text]): [string, unknown][] =>
    text !== undefined && /^[\d'[{]/.test(text) ? [[option, JSON.parse(text.replaceAll("'", '"'))]] : [],
  )
}

/** The options without such a default. Each has a test below. */
function sentencesOf(name: string): string[] {
  const values = new Map(valuesOf(name))
  return [...documented(name).keys()].filter((option) => !values.has(option))
}

describe('the tables above have every option', () => {
  it.each([
    ['RaceOptions', RACE_OPTIONS],
    ['MeasurementOptions', MEASUREMENT_OPTIONS],
    ['CaseOptions', CASE_OPTIONS],
    ['ClaimOptions', CLAIM_OPTIONS],
    ['FileSubject', FILE_SUBJECT],
    ['CommandSubject', COMMAND_SUBJECT],
  ])('of %s', (name, table) => {
    const names = Object.keys(table).filter((option) => !option.includes('.'))
    expect(names.toSorted()).toEqual([...documented(name).keys()].toSorted())
  })
})

describe('defaults', () => {
  const resolved = resolveRace(SUBJECTS, { path: '/' })
  const [only] = resolved.cases
  const resolvedOptions: Record<string, unknown> = { ...resolved, ...resolved.load, ...only }

  it.each([
    ...valuesOf('RaceOptions').filter(([option]) => option !== 'measurement'),
    ...valuesOf('MeasurementOptions'),
    ...valuesOf('CaseOptions'),
  ])('%s is %j, as in its TSDoc', (option, value) => {
    expect(resolvedOptions[option]).toEqual(value)
  })

  it('are values, except for these options', () => {
    expect(sentencesOf('RaceOptions')).toEqual(['cases', 'amount', 'seed', 'cwd', 'onProgress'])
    expect(sentencesOf('MeasurementOptions')).toEqual([])
    expect(sentencesOf('CaseOptions')).toEqual(['path', 'body', 'expect', 'normalize'])
    expect(sentencesOf('ClaimOptions')).toEqual(['atLeast', 'contender', 'case', 'metric', 'alpha', 'budget', 'signal'])
    expect(sentencesOf('FileSubject')).toEqual(['file', 'execPath', 'cwd'])
    expect(sentencesOf('CommandSubject')).toEqual(['command', 'cwd'])
  })

  it('amount, body, expect and normalize have none', () => {
    expect(resolved.load.amount).toBeUndefined()
    expect(only).toMatchObject({ body: undefined, expect: undefined, normalize: undefined })
  })

  it('seed is random', () => {
    const seeds = Array.from({ length: 20 }, () => resolveRace(SUBJECTS, { path: '/' }).seed)
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true)
    expect(new Set(seeds).size).toBeGreaterThan(1)
  })

  it('cwd is process.cwd() for the race, and the cwd of the race for its subjects', () => {
    expect(resolved.cwd).toBe(process.cwd())
    const { subjects } = resolveRace({ a: { file: './a.ts' }, b: { command: ['./b'] } }, { path: '/', cwd: 'sub' })
    expect(subjects.map(({ cwd }) => cwd)).toEqual([resolve('sub'), resolve('sub')])
    expect(subjects[0]!.file).toBe(resolve('sub/a.ts'))
  })

  it('a subject has no arguments and no variables', () => {
    const [file, command] = resolveRace({ a: './a.ts', b: { command: ['./b', 'x'] } }, { path: '/' }).subjects
    expect(valuesOf('FileSubject')).toEqual([
      ['args', []],
      ['nodeArgs', []],
      ['env', {}],
    ])
    expect(valuesOf('CommandSubject')).toEqual([['env', {}]])
    expect(file).toMatchObject({ command: [process.execPath, resolve('a.ts')], env: {}, label: 'node a.ts' })
    expect(command).toMatchObject({ command: ['./b', 'x'], env: {}, file: undefined, label: './b x' })
  })

  it('a claim is about the first subject and case, and CPU and throughput, with alpha and budget of the race', () => {
    const cases = { first: { path: '/' }, second: { path: '/2' } }
    const match = resolveRace({ ...SUBJECTS, c: './c.ts' }, { cases, alpha: 0.05, budget: 1234 })
    expect(resolveClaim(match, 'c', { atLeast: 1.5 })).toMatchObject({
      contender: 'a',
      over: 'c',
      atLeast: 1.5,
      case: 'first',
      metrics: ['cpu', 'throughput'],
      alpha: 0.05,
      budget: 1234,
    })
  })
})

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFrozen(inner)
  }
  return value
}

describe('the given options stay unchanged', () => {
  // Modules are strict, so writing to a frozen object throws.
  const subjects = deepFrozen({
    a: { file: pathToFileURL(resolve('a.ts')), args: ['x'], nodeArgs: ['--no-warnings'], env: { A: '1' }, cwd: 'sub' },
    b: { command: ['./b', '{port}'] as const, env: { B: '2' } },
  })

  it('with one case', () => {
    const options = deepFrozen({
      path: '/',
      method: 'post',
      headers: { 'X-Kind': 'A' },
      body: '{}',
      compareHeaders: ['Content-Type', 'ETag'],
      expect: { status: 201, headers: { etag: '"1"' }, body: 'ok' },
      connections: 10,
    })
    const resolved = resolveRace(subjects, options)
    expect(resolved.cases[0]).toMatchObject({ method: 'POST', compareHeaders: ['content-type', 'etag'] })
    expect(race(subjects, options).subjects).toEqual(['a', 'b'])
    expect(resolved.subjects[0]!.cwd).toBe(join(process.cwd(), 'sub'))
  })

  it('with several cases, and a claim', () => {
    const options = deepFrozen({ cases: { one: { path: '/1', compareHeaders: ['A'] }, two: { path: '/2' } } })
    const resolved = resolveRace(subjects, options)
    const claim = deepFrozen({
      atLeast: 2,
      case: 'two',
      contender: 'b',
      metric: 'rss',
      alpha: 0.02,
      budget: 5,
    } as const)
    expect(resolveClaim(resolved, 'a', claim)).toMatchObject({
      contender: 'b',
      over: 'a',
      case: 'two',
      metrics: ['rss'],
    })
  })

  it('when they are invalid', () => {
    const options = deepFrozen({ path: '/', headers: { a: 'b' }, compareHeaders: ['A'], replicas: 1 })
    expect(() => race(subjects, options)).toThrow('Invalid option "replicas"')
  })
})
