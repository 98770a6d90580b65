// The schemas of all options, with their kinds, bounds and defaults. types.ts has the interfaces for users.

import {
  anyOf,
  custom,
  func,
  instanceOf,
  integer,
  list,
  milliseconds,
  number,
  object,
  oneOf,
  optional,
  type OptionsSchema,
  record,
  type Schema,
  share,
  string,
} from 'checked-options'
import type { ConfigClaim } from './config-types.ts'
import {
  type CaseOptions,
  type ClaimOptions,
  type CommandSubject,
  type ComparedResponse,
  type FileSubject,
  GENERATORS,
  HEAT_ORDERS,
  IDLE_STATES,
  type MeasurementOptions,
  METRICS,
  type RaceOptions,
} from './types.ts'

/** Options after the check: optional ones with a default are there. */
type WithDefaults<T, K extends keyof T> = Omit<T, K> & Required<Pick<T, K>>

export type CheckedCaseOptions = WithDefaults<CaseOptions, 'method' | 'headers' | 'compareHeaders' | 'maxErrorRate'>

type CheckedMeasurement = Required<MeasurementOptions>

export type CheckedRaceOptions = WithDefaults<
  Omit<RaceOptions, 'cases' | 'measurement'>,
  | 'method'
  | 'headers'
  | 'compareHeaders'
  | 'maxErrorRate'
  | 'connections'
  | 'pipelining'
  | 'duration'
  | 'requestTimeout'
  | 'generator'
  | 'replicas'
  | 'alpha'
  | 'budget'
  | 'startTimeout'
  | 'stopTimeout'
> & { cases?: Record<string, CheckedCaseOptions>; measurement: CheckedMeasurement }

/** Unlike `string()`, it accepts an empty string. */
export const text: Schema<string> = custom('a string', (value) => typeof value === 'string')
const path: Schema<string> = string('a path that starts with "/"', /^\//)
const directory: Schema<string> = string('a path')
export const alpha: Schema<number> = custom(
  'a number above 0 and at most 0.2',
  (value) => typeof value === 'number' && value > 0 && value <= 0.2,
)
const factor: Schema<number> = custom(
  'a number above 0',
  (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
)
const microseconds: Schema<number> = custom(
  'microseconds, an integer from 0 to 1000',
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 1000,
)
const scriptUrl: Schema<URL> = custom(
  'a file URL',
  (value) => value instanceof URL && value.protocol === 'file:' && (value.host === '' || process.platform === 'win32'),
)
const program: Schema<readonly [string, ...string[]]> = custom(
  'an array of strings: the program and its arguments',
  (value) => Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string'),
)

const measurement: OptionsSchema<MeasurementOptions, CheckedMeasurement> = object(
  {
    maxWarmUp: optional(milliseconds(100), 2000),
    minWarmUp: optional(milliseconds(), 1000),
    cycles: optional(integer(1), 8),
    stages: optional(integer(1), 3),
    heats: optional(oneOf(...HEAT_ORDERS), 'interleaved'),
    turn: optional(milliseconds(20), 200),
    idle: optional(oneOf(...IDLE_STATES), 'paused'),
    busyPoll: optional(microseconds, 0),
    maxForeignCpu: optional(number(0), 1),
  },
  { renamed: { warmUp: 'measurement.maxWarmUp', leastWarmUp: 'measurement.minWarmUp' } },
)

const caseEntries = {
  method: optional(string('an HTTP method'), 'GET'),
  headers: optional(record(text), {}),
  body: optional(text),
  compareHeaders: optional(list(text), ['content-type'] as string[]),
  expect: optional(
    object({ status: optional(integer(100, 599)), headers: optional(record(text)), body: optional(text) }),
  ),
  normalize: optional(func<(response: ComparedResponse) => ComparedResponse>()),
  maxErrorRate: optional(anyOf(share(), record(share())), 0),
}
const renamedInCases = { normalise: 'normalize', allowance: 'maxErrorRate' }

export const caseSchema: OptionsSchema<CaseOptions, CheckedCaseOptions> = object(
  { path, ...caseEntries },
  { renamed: renamedInCases },
)

/** Old names of options of a race, and their new ones. */
export const renamedInRace: Readonly<Record<string, string>> = {
  ...renamedInCases,
  warmUp: 'measurement.maxWarmUp',
  leastWarmUp: 'measurement.minWarmUp',
  cycles: 'measurement.cycles',
  stages: 'measurement.stages',
  heats: 'measurement.heats',
  turn: 'measurement.turn',
  idle: 'measurement.idle',
  busyPoll: 'measurement.busyPoll',
  maxForeignCpu: 'measurement.maxForeignCpu',
}

export const raceSchema: OptionsSchema<RaceOptions, CheckedRaceOptions> = object(
  {
    path: optional(path),
    ...caseEntries,
    cases: optional(record(caseSchema)),
    connections: optional(integer(1), 50),
    pipelining: optional(integer(1), 1),
    duration: optional(milliseconds(50), 200),
    amount: optional(integer(1)),
    requestTimeout: optional(milliseconds(1000), 10_000),
    generator: optional(oneOf(...GENERATORS), 'autocannon'),
    replicas: optional(integer(2), 5),
    alpha: optional(alpha, 0.01),
    budget: optional(milliseconds(), 60_000),
    measurement: optional(measurement, {}),
    startTimeout: optional(milliseconds(), 20_000),
    stopTimeout: optional(milliseconds(0), 3000),
    seed: optional(integer()),
    cwd: optional(directory),
    onProgress: optional(func<NonNullable<RaceOptions['onProgress']>>()),
  },
  { renamed: renamedInRace },
)

const claimEntries = {
  atLeast: factor,
  contender: optional(string()),
  case: optional(string()),
  metric: optional(oneOf(...METRICS)),
  alpha: optional(alpha),
  budget: optional(milliseconds()),
}
const runEntries = { signal: optional(instanceOf(AbortSignal)) }

export const claimSchema: OptionsSchema<ClaimOptions> = object({ ...claimEntries, ...runEntries })

/** A claim of a file, which has no signal. */
export const configClaimSchema: OptionsSchema<ConfigClaim> = object({
  over: string('the name of a subject'),
  ...claimEntries,
})

/** A claim of a benchmark file. */
export const functionClaimSchema: OptionsSchema<ConfigClaim> = object({
  over: string('the name of a function'),
  ...claimEntries,
  metric: optional(oneOf('cpu', 'throughput')),
})

export const runSchema: OptionsSchema<Pick<ClaimOptions, 'signal'>> = object(runEntries)

export const fileSubjectSchema: OptionsSchema<
  FileSubject,
  WithDefaults<FileSubject, 'args' | 'nodeArgs' | 'env'>
> = object({
  file: anyOf(string('a path'), scriptUrl),
  args: optional(list(text), [] as string[]),
  nodeArgs: optional(list(text), [] as string[]),
  execPath: optional(string('a path')),
  env: optional(record(text), {}),
  cwd: optional(directory),
})

export const commandSubjectSchema: OptionsSchema<CommandSubject, WithDefaults<CommandSubject, 'env'>> = object({
  command: program,
  env: optional(record(text), {}),
  cwd: optional(directory),
})
