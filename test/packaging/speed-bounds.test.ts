// What people get: the tarball, in an empty project.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demand, readJson, run, Tarball, tsconfig } from './tarball.ts'
import { isWellPacked } from './well-packed.ts'

interface Validator {
  validate: (schema: object, document: unknown) => boolean
  errorsText: () => string
}

/** A server that does next to nothing, or burns some 1 ms of CPU with each request. */
const server = (work: number): string => `
import { createServer } from 'node:http'
const server = createServer((request, response) => {
  let sum = 0
  for (let i = 0; i < ${work}; i++) sum += Math.sqrt(i)
  response.setHeader('content-type', 'text/plain')
  response.end(sum >= 0 ? 'ok' : 'never')
})
server.listen(process.env.PORT, process.env.HOST)
process.once('SIGTERM', () => { server.close(); server.closeAllConnections() })
`

/** Servers that are some fifty times apart need no quiet machine to be told apart. */
const OPTIONS =
  "{ path: '/', replicas: 2, duration: 100, measurement: { cycles: 2, maxWarmUp: 100, maxForeignCpu: 1000 } }"

const FILES = {
  'package.json': '{ "private": true, "type": "module" }\n',
  'quick.js': server(0),
  'slow.js': server(500_000),
  'right.test.ts': `
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect, it } from 'vitest'

const match = race({ quick: './quick.js', slow: './slow.js' }, ${OPTIONS})

it('has the same responses', async () => {
  await expect(match).toHaveSameResponses()
}, 100_000)

it('is faster', async () => {
  await expect(match).toOutpace('slow', { atLeast: 1.5, metric: 'cpu' })
}, 100_000)
`,
  'wrong.test.ts': `
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect, it } from 'vitest'

it('is faster, it is claimed', async () => {
  const match = race({ slow: './slow.js', quick: './quick.js' }, ${OPTIONS})
  await expect(match).toOutpace('quick', { atLeast: 1.5, metric: 'cpu' })
}, 100_000)
`,
  'types.ts': `
import { race, SpeedBoundsError, type Decision, type RaceResult, type Verdict } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect } from 'vitest'

const match = race({ quick: './quick.js', slow: { command: ['./slow', '{port}'] } }, { path: '/' })
export const decision: Decision = await match.decide('slow', { atLeast: 1.5 })
export const verdict: Verdict = decision.verdict
export const result: RaceResult = match.result()
export const code = (error: SpeedBoundsError): string => error.code

// @ts-expect-error A misspelt option is found by the compiler.
race({ quick: './quick.js', slow: './slow.js' }, { path: '/', conections: 5 })
// @ts-expect-error So is a claim that compares what cannot be compared.
await match.decide('slow', { atLeast: 1.5, metric: 'speed' })
// @ts-expect-error The matchers have types of their own.
await expect(match).toOutpace('slow', { atLeast: '1.5' })
await expect(match).not.toHaveSameResponses()
`,
  'tsconfig.json': tsconfig(['right.test.ts', 'wrong.test.ts', 'types.ts']),
}

const tarball = new Tarball('speed-bounds')
const { project, installed } = tarball

beforeAll(() => tarball.install(FILES, ['vitest', '@types/node']))

afterAll(() => tarball.remove())

isWellPacked(tarball, {
  beside: ['action/action.yml', 'functions.schema.json', 'load.schema.json', 'result.schema.json'],
  dependencies: [
    'autocannon',
    'checked-options',
    'commander',
    'd3-scale',
    'd3-shape',
    'diff',
    'fast-string-truncated-width',
    'get-port',
    'hdr-histogram-js',
    'http-parser-js',
    'jstat',
    'markdown-table',
    'pidtree',
    'pidusage',
    'pure-rand',
    'string-argv',
    'tinybench',
  ],
  values: [
    'SpeedBoundsError',
    'defineConfig',
    'errorCodes',
    'functionsToMarkdown',
    'functionsToTerminal',
    'load',
    'loadToMarkdown',
    'loadToTerminal',
    'progressLine',
    'race',
    'toHtml',
    'toMarkdown',
    'toTerminal',
  ],
  types: [
    'Bottleneck',
    'Call',
    'CaseOptions',
    'Claim',
    'ClaimOptions',
    'CommandSubject',
    'ComparedResponse',
    'ConfigClaim',
    'Decision',
    'Environment',
    'Estimate',
    'FileSubject',
    'FunctionRace',
    'FunctionRaceOptions',
    'FunctionRaceResult',
    'FunctionRatio',
    'FunctionSummary',
    'FunctionTime',
    'GeneratorName',
    'HeatOrder',
    'IdleState',
    'Latency',
    'LoadCeiling',
    'LoadLatency',
    'LoadOptions',
    'LoadPhase',
    'LoadProgress',
    'LoadReport',
    'LoadServer',
    'LoadStage',
    'MeasurementOptions',
    'Metric',
    'Place',
    'Profile',
    'Progress',
    'ProgressLine',
    'Protocol',
    'Race',
    'RaceOptions',
    'RaceResult',
    'RacedFunction',
    'Rate',
    'RateRamp',
    'ResultDocument',
    'Round',
    'RunOptions',
    'SpeedBoundsConfig',
    'SpeedBoundsErrorClass',
    'SpeedBoundsErrorCode',
    'Subject',
    'Summary',
    'Verdict',
  ],
})

describe('in an empty project', () => {
  it("a claim that is right passes in the project's own vitest", async () => {
    const { code, output } = await run(project, [tarball.program('vitest'), 'run', 'right.test.ts'])
    expect(output).toMatch(/Tests +2 passed/)
    expect(code).toBe(0)
  })

  it('a claim that is wrong fails, and says by how much', async () => {
    const { code, output } = await run(project, [tarball.program('vitest'), 'run', 'wrong.test.ts'])
    expect(output).toContain('expected slow to be at least 1.5x quick (GET /), but the claim is broken')
    expect(output).toMatch(/CPU per request: 0\.\d+x/)
    expect(output).toMatch(/Tests +1 failed/)
    expect(code).toBe(1)
  })

  it('tsc accepts what uses the types, and finds mistakes', async () => {
    expect(await tarball.tsc()).toEqual({ code: 0, stdout: '', output: '' })
  })

  it('tsc finds no error within the types themselves', async () => {
    expect(await tarball.errorsInTypes()).toEqual([])
  })
})

describe.each(['4.1.0', '4'])('beside vitest %s', (version) => {
  const older = new Tarball('speed-bounds')

  beforeAll(() => older.install(FILES, [`vitest@${version}`, '@types/node']))

  afterAll(() => older.remove())

  it('a claim that is right passes, and one that is wrong fails', async () => {
    const { code, output } = await run(older.project, [older.program('vitest'), 'run', '--no-file-parallelism'])
    expect(output).toContain('RUN  v4.')
    expect(output).toContain('expected slow to be at least 1.5x quick (GET /), but the claim is broken')
    expect(output).toMatch(/Tests +1 failed \| 2 passed/)
    expect(code).toBe(1)
  })

  it('tsc accepts what uses the types, and finds mistakes', async () => {
    expect(await older.tsc()).toEqual({ code: 0, stdout: '', output: '' })
  })

  it('tsc finds no error within the types themselves', async () => {
    expect(await older.errorsInTypes()).toEqual([])
  })
})

describe('the command', () => {
  it('tells its version', async () => {
    const { version } = readJson(join(tarball.source, 'package.json'))
    expect(await demand(project, ['npx', '--no-install', 'speed-bounds', '--version'])).toMatchObject({
      stdout: `${version as string}\n`,
    })
  })

  it('races, and writes a document that its schema describes', async () => {
    const flags = [
      '--metric',
      'cpu',
      '--at-least',
      '1.5',
      '--replicas',
      '3',
      '--duration',
      '100ms',
      '--max-warm-up',
      '200ms',
      '--cycles',
      '3',
      // Other programs of the machine do not matter.
      '--max-foreign-cpu',
      '1000',
      '--json',
      'race.json',
    ]
    const { code, output } = await run(project, [
      tarball.program('speed-bounds'),
      'race',
      'quick.js',
      'slow.js',
      ...flags,
    ])
    expect(output).toContain('quick is at least 1.5x slow (GET /): holds')
    expect(code).toBe(0)

    // The validator of the schema is a development dependency of the package.
    const ofPackage = createRequire(join(tarball.source, 'package.json'))
    const { Ajv2020 } = ofPackage('ajv/dist/2020.js') as { Ajv2020: new (options: object) => Validator }
    const ajv = new Ajv2020({ allowUnionTypes: true })
    const document = readJson(join(project, 'race.json'))
    const valid = ajv.validate(readJson(join(installed, 'result.schema.json')), document)
    expect(valid ? '' : ajv.errorsText()).toBe('')
    expect(document).toMatchObject({ claims: [{ contender: 'quick', over: 'slow', verdict: 'holds' }] })
  })
})
