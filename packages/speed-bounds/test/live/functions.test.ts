import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import '../../src/vitest.ts'
import { errorCodes, type FunctionRaceOptions, type FunctionRaceResult, race } from '../../src/index.ts'
import { schemaErrors } from '../helpers/schema-errors.ts'
import { processesWith } from '../helpers/servers.ts'

const src = new URL('../../src/', import.meta.url)
const cli = fileURLToPath(new URL('cli/main.ts', src))
const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-functions-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Other programs of the machine do not matter. With 3 processes, a single slow one would make a claim inconclusive. */
const SMALL: FunctionRaceOptions = { replicas: 24, warmUp: 30, duration: 30, maxForeignCpu: 64, budget: 60_000 }
const FLAGS = [
  '--replicas',
  '24',
  '--warm-up',
  '30ms',
  '--duration',
  '30ms',
  '--max-foreign-cpu',
  '64',
  '--budget',
  '60s',
]

const ADD = `const data = Array.from({ length: 5000 }, (_, index) => index)
const add = (count) => { let sum = 0; for (let index = 0; index < count; index++) sum += data[index]; return sum }`

function file(name: string, source: string): URL {
  const path = join(folder, name)
  writeFileSync(path, source)
  return pathToFileURL(path)
}

const functions = file('functions.bench.mjs', `${ADD}\nexport default { few: () => add(100), many: () => add(5000) }`)

interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

const bench = (...args: string[]): Promise<Outcome> => run('bench', ...args)

async function run(...args: string[]): Promise<Outcome> {
  const runner = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  const outcome: Outcome = { code: null, stdout: '', stderr: '' }
  runner.stdout.on('data', (text: Buffer) => (outcome.stdout += text.toString()))
  runner.stderr.on('data', (text: Buffer) => (outcome.stderr += text.toString()))
  const [code] = (await once(runner, 'close')) as [number | null]
  return { ...outcome, code }
}

describe('race() of functions', () => {
  it('decides a claim about the functions of a file', async () => {
    await expect(race(functions, SMALL)).toOutpace('many', { atLeast: 2, metric: 'cpu' })
  })

  it('decides a claim about inline functions, one of them async', async () => {
    const match = race(
      {
        few: () => {
          let sum = 0
          for (let index = 0; index < 1000; index++) sum += index % 7
          return sum
        },
        async many() {
          let sum = 0
          for (let index = 0; index < 50_000; index++) sum += index % 7
          return sum
        },
      },
      SMALL,
    )
    await expect(match).toOutpace('many', { atLeast: 2, metric: 'cpu' })
    const first = match.result().rounds.length
    await expect(match).not.toOutpace('few', { atLeast: 2, contender: 'many', metric: 'cpu' })
    const { functions: measured, rounds, claims } = match.result()
    expect(measured.map(({ name, processes }) => [name, processes])).toEqual([
      ['few', first / 2],
      ['many', first / 2],
    ])
    expect([6, 12, 24, 48]).toContain(first)
    // The second claim needed no more processes.
    expect(rounds).toHaveLength(first)
    expect(claims.map(({ verdict }) => verdict)).toEqual(['holds', 'broken'])
  })

  it('measures every function in as many processes as a look needs', async () => {
    const { rounds, name } = await race(functions, SMALL).measure()
    expect(rounds.map(({ subject }) => subject).toSorted()).toEqual(['few', 'few', 'few', 'many', 'many', 'many'])
    expect(new Set(rounds.map(({ heat }) => heat)).size).toBe(3)
    expect(name).toBe('functions.bench.mjs')
  })

  it('says how much time is missing if the budget ends before the first look', async () => {
    const decision = await race(functions, { ...SMALL, duration: 1000, budget: 1500 }).decide('many', { atLeast: 1 })
    expect(decision).toMatchObject({ verdict: 'inconclusive', estimates: [], missing: expect.any(Number) })
  })

  it('rejects metrics and names that functions do not have', async () => {
    await expect(race(functions, SMALL).decide('many', { atLeast: 1, metric: 'rss' })).rejects.toThrow(
      'Invalid option "metric": expected "cpu" or "throughput" of functions, got "rss".',
    )
    await expect(race(functions, SMALL).decide('more', { atLeast: 1 })).rejects.toThrow(
      'Invalid option "over": expected one of many, got "more".',
    )
    await expect(race(functions, { ...SMALL, group: 'x' }).measure()).rejects.toThrow(
      'Invalid option "group": expected no group, because the file has none, got "x".',
    )
  })

  it.each([
    ['throws', `throw new RangeError('no luck')`, 'Function "b" failed: RangeError: no luck.'],
    ['rejects', `return Promise.reject(new Error('later'))`, 'Function "b" failed: Error: later.'],
    [
      'throws after a while',
      `if (performance.now() > 60) throw new Error('late'); return add(500)`,
      'failed: Error: late.',
    ],
    ['never resolves', `return new Promise(() => {})`, 'Function "b" did not return within 1 s: make it faster'],
    ['never returns', `for (;;);`, 'Function "b" did not return within 1 s: make it faster'],
    ['does nothing', ``, 'Function "b" failed: it takes hardly longer than an empty function'],
    ['exits', `process.exit(3)`, 'The process of "b" ended with code 3 before it was measured.'],
  ])('fails if a function %s, and leaves no process', async (what, body, message) => {
    const name = `${what.replaceAll(' ', '-')}.bench.mjs`
    const broken = file(name, `${ADD}\nexport default { a: () => add(500), b() { ${body} } }`)
    const error = await race(broken, { ...SMALL, callTimeout: 1000 })
      .decide('b', { atLeast: 1 })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(errorCodes.SPEED_BOUNDS_FUNCTION_FAILED)
    expect((error as Error).message).toContain(message)
    expect(processesWith(fileURLToPath(new URL('functions/function-process', src)))).toEqual([])
  })

  it('rejects a generator, which would do nothing', async () => {
    const generator = file('generator.bench.mjs', `export default { a: () => 1, *b() { yield 1 } }`)
    await expect(race(generator, SMALL).decide('a', { contender: 'b', atLeast: 1 })).rejects.toThrow(
      /"b" failed: it is a generator|"a" failed: it takes hardly longer/,
    )
  })

  it('rejects a file that does not exist', async () => {
    const missing = pathToFileURL(join(folder, 'missing.bench.mjs'))
    await expect(race(missing, SMALL).measure()).rejects.toThrow(errorCodes.SPEED_BOUNDS_NO_BENCHMARKS)
  })
})

describe('speed-bounds bench', () => {
  it('compares the functions of a file, and exits with 0 without claims', async () => {
    const [json, markdown, html, csv] = ['json', 'md', 'html', 'csv'].map((type) => join(folder, `out.${type}`)) as [
      ...[string, string, string, string],
    ]
    const { code, stdout } = await bench(
      ...['functions.bench.mjs', '--metric', 'cpu', ...FLAGS],
      ...['--json', json, '--markdown', markdown, '--html', html, '--csv', csv],
    )
    expect(stdout).toMatch(/function +CPU\/call +calls\/s +processes\n few /)
    expect(stdout).toMatch(/few is at least 1x many \(functions.bench.mjs\): holds\n {2}CPU per call: /)
    expect(code).toBe(0)
    const results = JSON.parse(readFileSync(json, 'utf8')) as [FunctionRaceResult]
    expect(results).toMatchObject([{ version: 1, kind: 'functions', name: 'functions.bench.mjs' }])
    expect(results).toMatchObject([{ file: 'functions.bench.mjs', method: { replicas: 24, budget: 60_000 } }])
    expect(schemaErrors('functions', results)).toEqual([])
    expect(readFileSync(markdown, 'utf8')).toMatch(/\| few +\| +[\d.]+ [nµ]s \|/)
    expect(readFileSync(html, 'utf8')).toContain(
      'npx speed-bounds bench functions.bench.mjs --metric cpu --replicas 24',
    )
    expect(readFileSync(csv, 'utf8').trimEnd().split('\n')).toHaveLength(1 + results[0].rounds.length)
    const again = await run('report', json)
    expect(again).toEqual({ code: 0, stdout, stderr: '' })
  })

  it('decides the claims of a file and of --at-least', async () => {
    const group = `{ many: () => add(5000), few: () => add(100) }`
    file(
      'claims.bench.mjs',
      `${ADD}\nexport default { g: ${group}, h: ${group} }
export const claims = [{ case: 'g', over: 'many', contender: 'few', atLeast: 2, metric: 'cpu' }]`,
    )
    const { code, stdout } = await bench('claims.bench.mjs', ...FLAGS)
    expect(stdout).toContain('few is at least 2x many (claims.bench.mjs, g): holds')
    expect(code).toBe(0)
    const broken = await bench('functions.bench.mjs', 'functions.bench.mjs', '--at-least', '1000', ...FLAGS)
    const verdict = /few is at least 1000x many \(functions.bench.mjs\): broken/
    expect(broken).toEqual({ code: 1, stdout: expect.stringMatching(verdict), stderr: expect.any(String) })
    expect(broken.stdout.match(/is at least 1000x/g)).toHaveLength(1)
  })

  it('prints the same advice of several claims of a group once', async () => {
    file('three.bench.mjs', `${ADD}\nexport default { one: () => add(90), two: () => add(90), three: () => add(90) }`)
    const { code, stdout } = await bench(
      'three.bench.mjs',
      'three.bench.mjs',
      '--at-least',
      '1.0001',
      '--budget',
      '1ms',
    )
    expect(stdout.match(/one is at least 1\.0001x/g)).toHaveLength(2)
    expect(stdout.match(/The budget of 1 ms ended before there was an interval: raise it\./g)).toHaveLength(1)
    expect(code).toBe(3)
  })

  it('exits with 2 if a claim names a group that the file does not have', async () => {
    file(
      'unknown.bench.mjs',
      `export default { g: { a: () => 1 } }
export const claims = [{ case: 'h', over: 'a', atLeast: 2 }]`,
    )
    const { code, stderr } = await bench('unknown.bench.mjs')
    expect(stderr.trim()).toBe(
      'SPEED_BOUNDS_INVALID_OPTION: unknown.bench.mjs: Invalid option "claims[0].case": expected a group of the file: g, got "h".',
    )
    expect(code).toBe(2)
  })

  it.each([
    ['without a bound', "{ over: 'b' }", '"claims[1].atLeast": expected a number above 0, got undefined.'],
    ['with a bound of 0', "{ over: 'b', atLeast: 0 }", '"claims[1].atLeast": expected a number above 0, got 0.'],
    [
      'with a misspelt option',
      "{ over: 'b', atLeats: 2, atLeast: 2 }",
      '"claims[1].atLeats": unknown. Did you mean "atLeast"?',
    ],
    ['over nothing', '{ atLeast: 2 }', '"claims[1].over": expected the name of a function, got undefined.'],
    ['over a missing function', "{ over: 'c', atLeast: 2 }", '"claims[1].over": expected one of b, got "c".'],
    [
      'of a missing function',
      "{ over: 'b', contender: 'c', atLeast: 2 }",
      '"claims[1].contender": expected one of a, b, got "c".',
    ],
    [
      'on memory',
      "{ over: 'b', atLeast: 2, metric: 'rss' }",
      '"claims[1].metric": expected "cpu" or "throughput", got "rss".',
    ],
    [
      'about a group',
      "{ over: 'b', atLeast: 2, case: 'g' }",
      '"claims[1].case": expected no case, because the file has no groups, got "g".',
    ],
  ])('measures nothing if the last file has a claim %s', async (_, claim, message) => {
    file(
      'wrong-claim.bench.mjs',
      `export default { a: () => 1, b: () => 1 }\nexport const claims = [{ over: 'b', atLeast: 2 }, ${claim}]`,
    )
    const outcome = await bench('functions.bench.mjs', 'wrong-claim.bench.mjs')
    const stderr = `SPEED_BOUNDS_INVALID_OPTION: wrong-claim.bench.mjs: Invalid option ${message}\n`
    expect(outcome).toEqual({ code: 2, stdout: '', stderr })
  })

  it.each([
    ['no file matches', ['nothing/*.bench.mjs'], 'SPEED_BOUNDS_NO_BENCHMARKS: No file matches "nothing/*.bench.mjs"'],
    ['a file has no benchmarks', ['empty.bench.mjs'], 'SPEED_BOUNDS_NO_BENCHMARKS: empty.bench.mjs has no benchmarks'],
  ])('exits with 2 and one line if %s', async (_, args, message) => {
    file('empty.bench.mjs', 'export {}')
    const { code, stderr } = await bench(...args)
    expect(stderr).toContain(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(2)
  })

  it.runIf(process.platform === 'linux').each(['SIGINT', 'SIGKILL'] as const)(
    'leaves no process after %s, even of a function that never returns',
    async (signal) => {
      const endless = file('endless.bench.mjs', 'export default { a() { for (;;); }, b() { for (;;); } }')
      const runner = spawn(process.execPath, [cli, 'bench', fileURLToPath(endless)], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      await once(runner.stderr, 'data')
      const left = (): number[] => processesWith(fileURLToPath(new URL('functions/function-process', src)))
      await expect.poll(left).not.toEqual([])
      runner.kill(signal)
      await once(runner, 'exit')
      for (let tries = 0; tries < 200 && left().length > 0; tries++) await sleep(50)
      expect(left()).toEqual([])
    },
  )
})
