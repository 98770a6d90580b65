import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type CaseOptions, type ClaimOptions, race, type RaceOptions, type Subject } from '../../../src/index.ts'
import { resolveClaim, resolveRace } from '../../../src/options/resolve.ts'

/** A value, and what the message says was expected and came. */
type Wrong = readonly [value: unknown, expected: string, got: string]

const SUBJECTS = { a: './a.ts', b: './b.ts' }

const notAnObject = (expected: string): Wrong[] => [
  [null, expected, 'null (null)'],
  ['text', expected, '"text" (string)'],
  [[1], expected, '[1] (array)'],
  [() => 1, expected, 'a function (function)'],
]
const notANumber = (expected: string): Wrong[] => [
  ['5', expected, '"5" (string)'],
  [null, expected, 'null (null)'],
  [true, expected, 'true (boolean)'],
  [Number.NaN, expected, 'NaN (number)'],
  [Number.POSITIVE_INFINITY, expected, 'Infinity (number)'],
  [[5], expected, '[5] (array)'],
]
const notACount = (expected: string, least = 1): Wrong[] => [
  ...notANumber(expected),
  [least + 0.5, expected, `${least + 0.5} (number)`],
  [least - 1, expected, `${least - 1} (number)`],
  [-1, expected, '-1 (number)'],
]
const notAText = (expected: string): Wrong[] => [
  [5, expected, '5 (number)'],
  [null, expected, 'null (null)'],
  [['/'], expected, '["/"] (array)'],
  [Symbol('text'), expected, 'a symbol (symbol)'],
]
const notAFunction: Wrong[] = [
  ['text', 'a function', '"text" (string)'],
  [{}, 'a function', '{} (object)'],
  [null, 'a function', 'null (null)'],
]
const notAnAlpha: Wrong[] = [
  ...notANumber('a number above 0 and at most 0.2'),
  [0, 'a number above 0 and at most 0.2', '0 (number)'],
  [-0.01, 'a number above 0 and at most 0.2', '-0.01 (number)'],
  [0.21, 'a number above 0 and at most 0.2', '0.21 (number)'],
]
const notADuration = (least: number): Wrong[] => [
  ...notANumber(`whole milliseconds >= ${least}`),
  [least - 1, `whole milliseconds >= ${least}`, `${least - 1} (number)`],
  [least + 0.5, `whole milliseconds >= ${least}`, `${least + 0.5} (number)`],
  [2 ** 31, `whole milliseconds >= ${least}`, '2147483648 (number)'],
]
const notStrings = (expected: string): Wrong[] => [
  ...notAnObject(expected),
  [{ accept: 5 }, expected, '{"accept":5} (object)'],
]
const notAList = (expected: string): Wrong[] => [
  ['text', expected, '"text" (string)'],
  [{}, expected, '{} (object)'],
  [[1], expected, '[1] (array)'],
  [null, expected, 'null (null)'],
]

const CASE_OPTIONS: Record<string, Wrong[]> = {
  path: [
    ...notAText('a path that starts with /'),
    ['', 'a path that starts with /', '"" (string)'],
    ['x', 'a path that starts with /', '"x" (string)'],
    ['http://localhost/', 'a path that starts with /', '"http://localhost/" (string)'],
  ],
  method: [...notAText('an HTTP method'), ['', 'an HTTP method', '"" (string)']],
  headers: notStrings('an object of strings'),
  body: notAText('a string'),
  compareHeaders: notAList('an array of header names'),
  expect: notAnObject('an object of status, headers, body'),
  'expect.status': [
    ['200', '', '"200" (string)'],
    [Number.NaN, '', 'NaN (number)'],
  ],
  'expect.headers': notStrings(''),
  'expect.body': [[{ ok: true }, '', '{"ok":true} (object)']],
  normalise: notAFunction,
  allowance: [
    ...notANumber('a share from 0 to 1'),
    [-0.01, 'a share from 0 to 1', '-0.01 (number)'],
    [1.01, 'a share from 0 to 1', '1.01 (number)'],
    [5, 'a share from 0 to 1', '5 (number)'],
    [{ nobody: 0.1 }, 'an object with no other keys than', '"nobody" (string)'],
  ],
  'allowance.a': [
    [5, '', '5 (number)'],
    ['1', '', '"1" (string)'],
    [null, '', 'null (null)'],
  ],
}

const RACE_OPTIONS: Record<string, Wrong[]> = {
  cases: [...notAnObject('an object of cases by name'), [{}, 'an object of cases by name', '{} (object)']],
  connections: notACount('an integer >= 1'),
  pipelining: notACount('an integer >= 1'),
  duration: notADuration(50),
  turn: notADuration(20),
  amount: [...notACount('an integer >= 1'), [49, 'at least the number of connections (50)', '49 (number)']],
  requestTimeout: notADuration(1000),
  generator: [
    ...notAText('one of autocannon, wrk'),
    ['', 'one of autocannon, wrk', '"" (string)'],
    ['wrk2', 'one of autocannon, wrk', '"wrk2" (string)'],
  ],
  busyPoll: [
    [-1, 'whole microseconds from 0 to 1000', '-1 (number)'],
    [0.5, 'whole microseconds from 0 to 1000', '0.5 (number)'],
    [1001, 'whole microseconds from 0 to 1000', '1001 (number)'],
    ['60', 'whole microseconds from 0 to 1000', '"60" (string)'],
    [null, 'whole microseconds from 0 to 1000', 'null (null)'],
  ],
  replicas: notACount('an integer >= 2', 2),
  warmUp: notADuration(100),
  leastWarmUp: notADuration(1),
  idle: [...notAText('one of paused, running'), ['stopped', 'one of paused, running', '"stopped" (string)']],
  heats: [
    ...notAText('one of interleaved, successive'),
    ['together', 'one of interleaved, successive', '"together" (string)'],
  ],
  cycles: notACount('an integer >= 1'),
  stages: notACount('an integer >= 1'),
  alpha: notAnAlpha,
  budget: notADuration(1),
  startTimeout: notADuration(1),
  stopTimeout: notADuration(0),
  maxForeignCpu: [...notANumber('a number of cores >= 0'), [-0.1, 'a number of cores >= 0', '-0.1 (number)']],
  seed: [...notANumber('an integer'), [0.5, 'an integer', '0.5 (number)']],
  cwd: [...notAText('a path'), ['', 'a path', '"" (string)']],
  onProgress: notAFunction,
}

const CLAIM_OPTIONS: Record<string, Wrong[]> = {
  signal: [
    [null, 'an AbortSignal', 'null (null)'],
    [5000, 'an AbortSignal', '5000 (number)'],
    [{ aborted: false }, 'an AbortSignal', '{"aborted":false} (object)'],
  ],
  atLeast: [
    ...notANumber('a finite number > 0'),
    [undefined, 'a finite number > 0', 'undefined'],
    [0, 'a finite number > 0', '0 (number)'],
    [-1.5, 'a finite number > 0', '-1.5 (number)'],
  ],
  contender: [...notAText('one of a, b'), ['c', 'one of a, b', '"c" (string)'], ['', 'one of a, b', '"" (string)']],
  case: [...notAText('one of GET /'), ['POST /', 'one of GET /', '"POST /" (string)']],
  metric: [
    ...notAText('one of cpu, throughput, p99, rss'),
    ['p50', 'one of cpu, throughput, p99, rss', '"p50" (string)'],
    [['cpu'], 'one of cpu, throughput, p99, rss', '["cpu"] (array)'],
  ],
  alpha: notAnAlpha,
  budget: notADuration(1),
}

const FILE_SUBJECT: Record<string, Wrong[]> = {
  file: [
    ...notAText('a path or a file URL'),
    ['', 'a path or a file URL', '"" (string)'],
    [undefined, 'a path or a file URL', 'undefined'],
    [new URL('http://localhost/a.ts'), 'a path or a file URL', '"http://localhost/a.ts" (object)'],
  ],
  args: notAList('an array of strings'),
  nodeArgs: notAList('an array of strings'),
  env: notStrings('an object of strings'),
  cwd: [...notAText('a path'), ['', 'a path', '"" (string)']],
}

const COMMAND_SUBJECT: Record<string, Wrong[]> = {
  command: [
    ...notAList('an array: the program and its arguments'),
    [[], 'an array: the program and its arguments', '[] (array)'],
    [undefined, 'an array: the program and its arguments', 'undefined'],
  ],
  env: notStrings('an object of strings'),
  cwd: [...notAText('a path'), ['', 'a path', '"" (string)']],
}

/** One row per wrong value, with a name that can be read. */
function rowsOf(options: Record<string, Wrong[]>): [name: string, shown: string, wrong: Wrong][] {
  return Object.entries(options).flatMap(([name, values]) =>
    values.map((wrong): [string, string, Wrong] => [name, wrong[2], wrong]),
  )
}

/** `{ expect: { status: value } }` for `expect.status`. */
function nested(name: string, value: unknown): Record<string, unknown> {
  return name.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>
}

// What TypeScript would refuse is what is tested here.
const asRace = (options: unknown): RaceOptions => options as RaceOptions
const asCase = (options: unknown): CaseOptions => options as CaseOptions
const asClaim = (options: unknown): ClaimOptions => options as ClaimOptions
const asSubject = (subject: unknown): Subject => subject as Subject
const asSubjects = (subjects: unknown): Record<string, Subject> => subjects as Record<string, Subject>

/** The one error, naming the option, what was expected and what came. */
function refusal(name: string, expected: string, got: string): unknown {
  const literally = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  const message = `^Expected \`${literally(name)}\` to be ${literally(expected)}.*, got .*${literally(got)}`
  return expect.objectContaining({
    name: 'SpeedBoundsError',
    code: 'SPEED_BOUNDS_INVALID_OPTION',
    message: expect.stringMatching(new RegExp(message, 's')) as unknown,
  })
}

describe('race() refuses', () => {
  it.each(rowsOf(RACE_OPTIONS))('%s: %s', (name, _shown, [value, expected, got]) => {
    const path = name === 'cases' ? {} : { path: '/' }
    expect(() => race(SUBJECTS, asRace({ ...path, [name]: value }))).toThrow(refusal(name, expected, got))
  })

  it.each(rowsOf(CASE_OPTIONS))('%s: %s', (name, _shown, [value, expected, got]) => {
    expect(() => race(SUBJECTS, asRace({ path: '/', ...nested(name, value) }))).toThrow(refusal(name, expected, got))
  })

  it.each(rowsOf(CASE_OPTIONS))('cases.slow.%s: %s', (name, _shown, [value, expected, got]) => {
    const cases = { quick: { path: '/' }, slow: asCase({ path: '/', ...nested(name, value) }) }
    expect(() => race(SUBJECTS, { cases })).toThrow(refusal(`cases.slow.${name}`, expected, got))
  })

  it.each(rowsOf({ options: notAnObject('an object') }))('%s: %s', (name, _shown, [value, expected, got]) => {
    expect(() => race(SUBJECTS, asRace(value))).toThrow(refusal(name, expected, got))
  })

  // Showing what came must not fail for what JSON cannot hold.
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each([
    ['a bigint', 5n, '(bigint)'],
    ['a cyclic object', cyclic, '(object)'],
    ['a symbol', Symbol('five'), 'a symbol (symbol)'],
  ])('%s', (_name, value, got) => {
    expect(() => race(SUBJECTS, asRace({ path: '/', connections: value }))).toThrow(
      refusal('connections', 'an integer >= 1', got),
    )
  })

  it('no path and no cases', () => {
    expect(() => race(SUBJECTS, {})).toThrow(refusal('path', 'the path to request, or `cases`', 'undefined'))
  })

  it('both cases and what belongs to a single one', () => {
    const options = { cases: { only: { path: '/' } }, method: 'POST' }
    expect(() => race(SUBJECTS, options)).toThrow(
      refusal('cases', 'either `cases` or `method`, not both', '["only"] (array)'),
    )
  })

  it('nothing that its message would call right: an empty body is a string', () => {
    expect(resolveRace(SUBJECTS, { path: '/', body: '' }).cases[0]!.body).toBe('')
  })

  it('a generator that stays awake for wrk, which sleeps', () => {
    expect(() => race(SUBJECTS, { path: '/', generator: 'wrk', busyPoll: 60 })).toThrow(
      refusal('busyPoll', 'no `busyPoll` with the generator wrk', '60 (number)'),
    )
    expect(resolveRace(SUBJECTS, { path: '/', generator: 'wrk', busyPoll: 0 }).load.busyPoll).toBe(0)
  })

  it('an amount for wrk, which counts seconds', () => {
    expect(() => race(SUBJECTS, { path: '/', generator: 'wrk', amount: 1000 })).toThrow(
      refusal('amount', 'no `amount` with the generator wrk', '1000 (number)'),
    )
  })

  it.each([
    ['options', asRace({ path: '/', conections: 50 }), '"conections" (string)'],
    ['cases.only', asRace({ cases: { only: { path: '/', verb: 'GET' } } }), '"verb" (string)'],
    ['expect', asRace({ path: '/', expect: { code: 200 } }), '"code" (string)'],
  ])('a key that %s does not have', (name, options, got) => {
    expect(() => race(SUBJECTS, options)).toThrow(refusal(name, 'an object with no other keys than ', got))
  })

  it.each([null, 5, 'text'])('a case that is %j', (value) => {
    expect(() => race(SUBJECTS, { cases: { only: asCase(value) } })).toThrow(
      refusal('cases.only', 'an object with `path`', JSON.stringify(value)),
    )
  })
})

describe('race() refuses subjects', () => {
  it.each(rowsOf({ subjects: notAnObject('an object of subjects by name') }))(
    '%s: %s',
    (name, _shown, [value, expected, got]) => {
      expect(() => race(asSubjects(value), { path: '/' })).toThrow(refusal(name, expected, got))
    },
  )

  it.each([
    ['none', {}, '[] (array)'],
    ['a single one', { a: './a.ts' }, '["a"] (array)'],
  ])('%s', (_name, subjects, got) => {
    expect(() => race(subjects, { path: '/' })).toThrow(refusal('subjects', 'at least 2 subjects', got))
  })

  it.each([
    ['an empty path', '', '"" (string)'],
    ['a number', 5, '5 (number)'],
    ['null', null, 'null (null)'],
    ['a list', ['./b.ts'], '["./b.ts"] (array)'],
    ['a function', () => './b.ts', 'a function (function)'],
    ['an object that says neither', { env: {} }, '{"env":{}} (object)'],
  ])('that are %s', (_name, subject, got) => {
    expect(() => race({ a: './a.ts', b: asSubject(subject) }, { path: '/' })).toThrow(
      refusal('subjects.b', 'a path, a file URL, { file } or { command }', got),
    )
  })

  it.each(rowsOf(FILE_SUBJECT))('with a file whose %s is %s', (name, _shown, [value, expected, got]) => {
    const subject = asSubject({ file: './b.ts', [name]: value })
    expect(() => race({ a: './a.ts', b: subject }, { path: '/' })).toThrow(refusal(`subjects.b.${name}`, expected, got))
  })

  // On Windows that is a path on a share.
  it.skipIf(process.platform === 'win32')('with a file URL of another host', () => {
    const file = new URL('file://elsewhere/b.ts')
    expect(() => race({ a: './a.ts', b: file }, { path: '/' })).toThrow(
      refusal('subjects.b.file', 'a path or a file URL', '"file://elsewhere/b.ts" (object)'),
    )
  })

  it.each(rowsOf(COMMAND_SUBJECT))('with a command whose %s is %s', (name, _shown, [value, expected, got]) => {
    const subject = asSubject({ command: ['./b', '{port}'], [name]: value })
    expect(() => race({ a: './a.ts', b: subject }, { path: '/' })).toThrow(refusal(`subjects.b.${name}`, expected, got))
  })

  it.each([
    ['file', { file: './b.ts', arguments: [] }, '"arguments" (string)'],
    ['command', { command: ['./b'], file: './b.ts' }, '"file" (string)'],
  ])('with a %s and a key that does not belong there', (_name, subject, got) => {
    expect(() => race({ a: './a.ts', b: asSubject(subject) }, { path: '/' })).toThrow(
      refusal('subjects.b', 'an object with no other keys than ', got),
    )
  })
})

describe('decide() refuses', () => {
  const refused = async (over: unknown, claim: unknown): Promise<unknown> =>
    race(SUBJECTS, { path: '/' }).decide(over as string, asClaim(claim))

  it.each(rowsOf(CLAIM_OPTIONS))('%s: %s', async (name, _shown, [value, expected, got]) => {
    await expect(refused('b', { atLeast: 1, [name]: value })).rejects.toThrow(refusal(name, expected, got))
  })

  it.each(rowsOf({ claim: notAnObject('an object with `atLeast`') }))(
    '%s: %s',
    async (name, _shown, [value, expected, got]) => {
      await expect(refused('b', value)).rejects.toThrow(refusal(name, expected, got))
    },
  )

  it('a key that a claim does not have', async () => {
    await expect(refused('b', { atLeast: 1, atleast: 1 })).rejects.toThrow(
      refusal('claim', 'an object with no other keys than ', '"atleast" (string)'),
    )
  })

  it.each([
    ['another name', 'c', '"c" (string)'],
    ['no name', '', '"" (string)'],
    ['a number', 1, '1 (number)'],
    ['nothing', undefined, 'undefined'],
  ])('to hold the contender against %s', async (_name, over, got) => {
    await expect(refused(over, { atLeast: 1 })).rejects.toThrow(
      refusal('over', 'another subject than a: one of a, b', got),
    )
  })

  it('to hold the contender against itself', async () => {
    await expect(refused('b', { atLeast: 1, contender: 'b' })).rejects.toThrow(
      refusal('over', 'another subject than b: one of a, b', '"b" (string)'),
    )
  })
})

/** The options that options.ts documents, with the text after `@default`. */
function documented(name: string): Map<string, string | undefined> {
  const source = readFileSync(new URL('../../../src/options/resolve.ts', import.meta.url), 'utf8')
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(source)![1]!
  const options = [...body.matchAll(/\/\*\*(.*?)\*\/\s*(\w+)\??:/gs)].map(
    ([, comment, option]): [string, string | undefined] => [option!, /@default (.*?)\s*$/s.exec(comment!)?.[1]],
  )
  return new Map(options)
}

/** The defaults that are values, and not a sentence. */
function valuesOf(name: string): [option: string, value: unknown][] {
  return [...documented(name)].flatMap(([option, text]): [string, unknown][] =>
    text !== undefined && /^[\d'[{]/.test(text) ? [[option, JSON.parse(text.replaceAll("'", '"'))]] : [],
  )
}

/** The defaults that are a sentence: each must have a test of its own below. */
function sentencesOf(name: string): string[] {
  const values = new Map(valuesOf(name))
  return [...documented(name).keys()].filter((option) => !values.has(option))
}

describe('the tables above name every option', () => {
  it.each([
    ['RaceOptions', RACE_OPTIONS],
    ['CaseOptions', CASE_OPTIONS],
    ['ClaimOptions', CLAIM_OPTIONS],
    ['FileSubject', FILE_SUBJECT],
    ['CommandSubject', COMMAND_SUBJECT],
  ])('of %s', (name, table) => {
    const names = Object.keys(table).filter((option) => !option.includes('.'))
    expect(names.toSorted()).toEqual([...documented(name).keys()].toSorted())
  })
})

describe('a default is what its TSDoc says', () => {
  const resolved = resolveRace(SUBJECTS, { path: '/' })
  const [only] = resolved.cases
  const resolvedOptions: Record<string, unknown> = { ...resolved, ...resolved.load, ...only }

  it.each([...valuesOf('RaceOptions'), ...valuesOf('CaseOptions')])('%s: %j', (option, value) => {
    expect(resolvedOptions[option]).toEqual(value)
  })

  it('of all options but those that no value can describe', () => {
    expect(sentencesOf('RaceOptions')).toEqual(['cases', 'amount', 'seed', 'cwd', 'onProgress'])
    expect(sentencesOf('CaseOptions')).toEqual(['path', 'body', 'expect', 'normalise'])
    expect(sentencesOf('ClaimOptions')).toEqual(['atLeast', 'contender', 'case', 'metric', 'alpha', 'budget', 'signal'])
    expect(sentencesOf('FileSubject')).toEqual(['file', 'cwd'])
    expect(sentencesOf('CommandSubject')).toEqual(['command', 'cwd'])
  })

  it('none: amount, body, expect, normalise', () => {
    expect(resolved.load.amount).toBeUndefined()
    expect(only).toMatchObject({ body: undefined, expect: undefined, normalise: undefined })
  })

  it('random: seed', () => {
    const seeds = Array.from({ length: 20 }, () => resolveRace(SUBJECTS, { path: '/' }).seed)
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true)
    expect(new Set(seeds).size).toBeGreaterThan(1)
  })

  it('process.cwd(): cwd, of the race and of its subjects', () => {
    expect(resolved.cwd).toBe(process.cwd())
    const { subjects } = resolveRace({ a: { file: './a.ts' }, b: { command: ['./b'] } }, { path: '/', cwd: 'sub' })
    expect(subjects.map(({ cwd }) => cwd)).toEqual([resolve('sub'), resolve('sub')])
    expect(subjects[0]!.file).toBe(resolve('sub/a.ts'))
  })

  it('of a subject: no arguments, no variables', () => {
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

  it('of a claim: the first subject and case, CPU and throughput, and what the race says', () => {
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

describe('what a caller hands over is not changed', () => {
  // Writing to a frozen object throws here, since modules are strict.
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

  it('when it is refused', () => {
    const options = deepFrozen({ path: '/', headers: { a: 'b' }, compareHeaders: ['A'], replicas: 1 })
    expect(() => race(subjects, options)).toThrow('Expected `replicas`')
  })
})
