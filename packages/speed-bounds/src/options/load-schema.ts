// The schema of the options of `load()`. load-types.ts has the interfaces for users.

import {
  anyOf,
  boolean,
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
  string,
} from 'checked-options'
import { type LoadOptions, type LoadStage, PROTOCOLS, type Rate, type RateRamp } from './load-types.ts'
import { text } from './schema.ts'

/** Options after the check: those with a default are there. */
export type CheckedLoadOptions = LoadOptions &
  Required<
    Pick<
      LoadOptions,
      | 'path'
      | 'method'
      | 'headers'
      | 'protocol'
      | 'duration'
      | 'timeScale'
      | 'pause'
      | 'keepAlive'
      | 'connections'
      | 'warmUp'
      | 'requestTimeout'
      | 'startTimeout'
      | 'stopTimeout'
    >
  >

/** Requests per second. No generator in JavaScript sends more. */
const MAX_RATE = 1_000_000

const rate: Schema<Rate> = custom(
  `requests per second above 0, or a share such as "50%"`,
  (value) => isRate(value) && value !== 0,
)
const rampEnd: Schema<Rate> = custom('requests per second, or a share such as "50%"', isRate)
const ramp: OptionsSchema<RateRamp> = object({ from: rampEnd, to: rampEnd })

const stage: OptionsSchema<LoadStage> = object({ users: integer(0, 100_000), duration: milliseconds(0) })

export const loadSchema: OptionsSchema<LoadOptions, CheckedLoadOptions> = object({
  path: optional(string('a path that starts with "/", without spaces', /^\/[\u0021-\u00FF]*$/), '/'),
  method: optional(string('an HTTP method', /^[!#$%&'*+.^`|~\w-]+$/), 'GET'),
  headers: optional(record(text), {}),
  body: optional(text),
  protocol: optional(oneOf(...PROTOCOLS), 'http1'),
  status: optional(integer(100, 599)),
  rate: optional(anyOf(rate, ramp, list(anyOf(rate, ramp)))),
  duration: optional(milliseconds(100), 10_000),
  stages: optional(list(stage)),
  timeScale: optional(
    custom<number>('a number above 0', (value) => typeof value === 'number' && Number.isFinite(value) && value > 0),
    1,
  ),
  pause: optional(number(0), 0),
  keepAlive: optional(boolean(), true),
  connections: optional(integer(1), 1000),
  warmUp: optional(milliseconds(0), 2000),
  requestTimeout: optional(milliseconds(1, 60_000), 10_000),
  startTimeout: optional(milliseconds(), 20_000),
  stopTimeout: optional(milliseconds(0), 3000),
  cwd: optional(string('a path')),
  signal: optional(instanceOf(AbortSignal)),
  onProgress: optional(func<NonNullable<LoadOptions['onProgress']>>()),
}) as OptionsSchema<LoadOptions, CheckedLoadOptions>

/** A rate, or a percentage of the ceiling: above 100 % it is an overload. */
function isRate(value: unknown): boolean {
  if (typeof value !== 'string') return typeof value === 'number' && value >= 0 && value <= MAX_RATE
  const share = Number(/^(\d+(?:\.\d+)?)%$/.exec(value)?.[1])
  return share > 0 && share <= 1000
}
