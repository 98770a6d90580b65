import { describe, expect, it } from 'vitest'
import {
  anyOf,
  boolean,
  bytes,
  checkOptions,
  custom,
  func,
  instanceOf,
  integer,
  invalidOption,
  list,
  milliseconds,
  number,
  object,
  oneOf,
  optional,
  optionsOf,
  port,
  record,
  share,
  string,
  type OptionsSchema,
  withOldValues,
} from '../../src/index.ts'

interface ServerOptions {
  path: string
  workers?: number | 'auto'
  drainTimeout?: number
  recycle?: false | { requests?: number; rss?: number }
  origins?: readonly string[]
  env?: Readonly<Record<string, string>>
  onClose?: (code: number) => void
  url?: URL
}

interface ResolvedServerOptions extends ServerOptions {
  workers: number | 'auto'
  drainTimeout: number
}

const schema: OptionsSchema<ServerOptions, ResolvedServerOptions> = object(
  {
    path: string('a path that starts with a slash', /^\//),
    workers: optional(anyOf(integer(1, 1024), oneOf('auto')), 'auto'),
    drainTimeout: optional(milliseconds(), 20_000),
    recycle: optional(
      anyOf(
        oneOf(false),
        object({ requests: optional(integer(1)), rss: optional(bytes()) }, { renamed: { memory: 'rss' } }),
      ),
    ),
    origins: optional(list(string('an origin', /^https?:/))),
    env: optional(record(string())),
    onClose: optional(func<(code: number) => void>()),
    url: optional(instanceOf(URL)),
  },
  { renamed: { drain: 'drainTimeout', fork: 'Option "fork" is gone: the server never forks.' } },
)

const check = (options: unknown): ResolvedServerOptions =>
  checkOptions(schema, options, (message) => new TypeError(message))

describe('options that are right', () => {
  it('are returned with their defaults', () => {
    expect(check({ path: '/a' })).toEqual({ path: '/a', workers: 'auto', drainTimeout: 20_000 })
  })

  it('may be undefined where they may be left out', () => {
    expect(check({ path: '/a', workers: undefined, recycle: undefined, onClose: undefined })).toMatchObject({
      workers: 'auto',
      recycle: undefined,
    })
  })

  it('keep functions and instances as they are', () => {
    const [onClose, url] = [() => {}, new URL('file:///a')]
    const checked = check({ path: '/a', onClose, url })
    expect(checked.onClose).toBe(onClose)
    expect(checked.url).toBe(url)
  })

  it('are not changed in the object that is given', () => {
    const given = Object.freeze({ path: '/a', recycle: Object.freeze({ requests: 3 }) })
    expect(check(given).recycle).toEqual({ requests: 3 })
    expect(given).toEqual({ path: '/a', recycle: { requests: 3 } })
  })
})

describe('an option that is wrong', () => {
  it.each<[string, unknown, string]>([
    ['no object', null, 'Invalid options: expected an object, got null.'],
    ['an array', [], 'Invalid options: expected an object, got an empty array.'],
    ['a missing option', {}, 'Invalid option "path": expected a path that starts with a slash, got undefined.'],
    [
      'a missing option under a misspelled name',
      { pth: '/' },
      'Invalid option "path": expected a path that starts with a slash, got undefined. "pth" is unknown. Did you mean "path"?',
    ],
    [
      'a missing option beside another unknown name',
      { port: 80 },
      'Invalid option "path": expected a path that starts with a slash, got undefined.',
    ],
    ['a wrong string', { path: 'a' }, 'Invalid option "path": expected a path that starts with a slash, got "a".'],
    [
      'no value of any kind',
      { path: '/', workers: 0 },
      'Invalid option "workers": expected an integer from 1 to 1024 or "auto", got 0.',
    ],
    [
      'no milliseconds',
      { path: '/', drainTimeout: 1.5 },
      'Invalid option "drainTimeout": expected milliseconds, an integer from 1 to 2147483647, got 1.5.',
    ],
    [
      'a wrong inner option',
      { path: '/', recycle: { rss: '1' } },
      'Invalid option "recycle.rss": expected bytes, an integer of at least 1, got "1".',
    ],
    [
      'an integer that JavaScript cannot count to',
      { path: '/', recycle: { rss: 2 ** 60 } },
      'Invalid option "recycle.rss": expected bytes, a safe integer of at least 1, got 1152921504606847000.',
    ],
    [
      'a wrong kind of object',
      { path: '/', recycle: true },
      'Invalid option "recycle": expected false or an object, got true.',
    ],
    [
      'a wrong item',
      { path: '/', origins: ['http://a', 'ftp://a'] },
      'Invalid option "origins[1]": expected an origin, got "ftp://a".',
    ],
    ['a wrong value by name', { path: '/', env: { A: 1 } }, 'Invalid option "env.A": expected a string, got 1.'],
    [
      'an array by name',
      { path: '/', env: ['A'] },
      'Invalid option "env": expected an object, each value a string, got an array.',
    ],
    ['no function', { path: '/', onClose: {} }, 'Invalid option "onClose": expected a function, got an object.'],
    [
      'another instance',
      { path: '/', url: new Map() },
      'Invalid option "url": expected an instance of URL, got an instance of Map.',
    ],
    [
      'a wrong letter',
      { path: '/', drainTimout: 1 },
      'Invalid option "drainTimout": unknown. Did you mean "drainTimeout"?',
    ],
    [
      'a short name that is another',
      { path: '/', pair: 1 },
      'Invalid option "pair": unknown. Known here: path, workers, drainTimeout, recycle, origins, env, onClose, url.',
    ],
    ['a wrong letter of a short name', { path: '/', uri: 1 }, 'Invalid option "uri": unknown. Did you mean "url"?'],
    [
      'an empty string',
      { path: '/', env: { A: '' } },
      'Invalid option "env.A": expected a string that is not empty, got "".',
    ],
    [
      'an unknown option',
      { path: '/', color: 1 },
      'Invalid option "color": unknown. Known here: path, workers, drainTimeout, recycle, origins, env, onClose, url.',
    ],
    [
      'an unknown inner option',
      { path: '/', recycle: { request: 1 } },
      'Invalid option "recycle.request": unknown. Did you mean "requests"?',
    ],
    ['an old name', { path: '/', drain: 1 }, 'Invalid option "drain": renamed to "drainTimeout".'],
    ['an old inner name', { path: '/', recycle: { memory: 1 } }, 'Invalid option "recycle.memory": renamed to "rss".'],
    [
      'an option that is gone',
      { path: '/', fork: 1 },
      'Invalid option "fork": Option "fork" is gone: the server never forks.',
    ],
    [
      'a name of Object.prototype',
      JSON.parse('{"path":"/","__proto__":{"workers":3}}'),
      'Invalid option "__proto__": unknown. Known here: path, workers, drainTimeout, recycle, origins, env, onClose, url.',
    ],
    [
      'another one of those',
      { path: '/', constructor: 1 },
      expect.stringMatching(/^Invalid option "constructor": unknown\./),
    ],
  ])('is named: %s', (_, options, message) => {
    expect(() => check(options)).toThrow(expect.objectContaining({ name: 'TypeError', message }))
  })

  it('says that no option is known', () => {
    expect(() => checkOptions(object({}), { size: 1 }, (message) => new TypeError(message))).toThrow(
      'Invalid option "size": unknown. No option is known here.',
    )
  })

  it('is shown shortly, in one line', () => {
    expect(() => check({ path: `a\n${'b'.repeat(500)}` })).toThrow(
      `Invalid option "path": expected a path that starts with a slash, got "a\\n${'b'.repeat(98)}…".`,
    )
  })
})

it.each<[string, unknown, unknown[], unknown[]]>([
  ['boolean', boolean(), [true, false], [0, 'true', null]],
  ['integer', integer(), [0, -1, 2 ** 53 - 1], [0.5, NaN, Infinity, 2 ** 53, '1', 1n]],
  ['number', number(0), [0, 0.5], [-1, NaN, Infinity, '1']],
  ['share', share(), [0, 1, 0.3], [-0.1, 1.1]],
  ['port', port(), [0, 65_535], [-1, 65_536, 80.5]],
  ['bytes', bytes(0), [0, 2 ** 40], [-1, 1.5]],
  ['milliseconds', milliseconds(0), [0, 2 ** 31 - 1], [2 ** 31, -1]],
  ['string', string(), ['a', ' '], ['', 1, new String('a')]],
  ['custom', custom('an even number', (value) => (value as number) % 2 === 0), [2], [1]],
])('%s() tells right values from wrong ones', (_, kind, right, wrong) => {
  const checked = (value: unknown): unknown =>
    checkOptions(object({ it: kind as ReturnType<typeof boolean> }), { it: value }, (message) => new Error(message))
  for (const value of right) expect(checked(value)).toEqual({ it: value })
  for (const value of wrong) expect(() => checked(value)).toThrow(/^Invalid option "it": expected /)
})

it('passes options with other names on, if it is told to', () => {
  const loose = object({ enabled: boolean() }, { others: true })
  const fail = (message: string): Error => new Error(message)
  expect(checkOptions(loose, { enabled: true, later: 1 }, fail)).toEqual({ enabled: true, later: 1 })
  expect(() => checkOptions(loose, { later: 1 }, fail)).toThrow(
    'Invalid option "enabled": expected a boolean, got undefined.',
  )
})

it('describes its options', () => {
  expect(optionsOf(schema).map(({ name }) => name)).toEqual([
    ...['path', 'workers', 'drainTimeout', 'recycle', 'recycle.requests', 'recycle.rss'],
    ...['origins', 'env', 'onClose', 'url'],
  ])
  expect(optionsOf(schema).slice(0, 3)).toEqual([
    { name: 'path', expected: 'a path that starts with a slash', unit: undefined, required: true, default: undefined },
    {
      name: 'workers',
      expected: 'an integer from 1 to 1024 or "auto"',
      unit: undefined,
      required: false,
      default: 'auto',
    },
    {
      name: 'drainTimeout',
      expected: 'milliseconds, an integer from 1 to 2147483647',
      unit: 'milliseconds',
      required: false,
      default: 20_000,
    },
  ])
})

it('writes the message of a rule that no schema knows', () => {
  expect(invalidOption('calls.one.method', 'GET, because it has "hedge"', 'POST')).toBe(
    'Invalid option "calls.one.method": expected GET, because it has "hedge", got "POST".',
  )
})

it('names the current value of an old one, and keeps the kind', () => {
  const kind = withOldValues(
    anyOf(oneOf<false | 'machine'>(false, 'machine'), object({ folder: optional(string()) })),
    [
      ['process', false],
      [true, 'machine'],
    ],
  )
  const options = object({ cache: optional(kind) })
  const checkCache = (cache?: unknown): unknown => checkOptions(options, { cache }, (message) => new Error(message))
  expect([false, 'machine', { folder: 'a' }, undefined].map((cache) => checkCache(cache))).toEqual(
    [false, 'machine', { folder: 'a' }, undefined].map((cache) => ({ cache })),
  )
  expect(() => checkCache('process')).toThrow(new Error('Invalid option "cache": the value "process" is false now.'))
  expect(() => checkCache(true)).toThrow(new Error('Invalid option "cache": the value true is "machine" now.'))
  expect(() => checkCache('other')).toThrow('expected false or "machine" or an object, got "other".')
  expect(() => checkCache({ folders: 'a' })).toThrow('Invalid option "cache.folders": unknown. Did you mean "folder"?')
  expect(optionsOf(options).map(({ name, expected }) => [name, expected])).toEqual([
    ['cache', 'false or "machine" or an object'],
    ['cache.folder', 'a string'],
  ])
})
