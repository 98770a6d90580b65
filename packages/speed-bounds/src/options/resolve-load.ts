import { validateHeaderName, validateHeaderValue } from 'node:http'
import { resolve } from 'node:path'
import type { RepeatedRequest } from '../connection/connection.ts'
import { assertOption, check } from './check.ts'
import { type CheckedLoadOptions, loadSchema } from './load-schema.ts'
import type { LoadOptions, LoadProgress, LoadStage, Rate, RateRamp } from './load-types.ts'
import { resolveSubject } from './resolve-subject.ts'
import type { ResolvedSubject } from './resolved.ts'
import type { Subject } from './types.ts'

/** Shares of the ceiling that are measured unless the options say otherwise. */
const SHARES = ['10%', '50%', '90%'] as const

/** Rates that are measured one after the other, or stages of users. Durations are in milliseconds. */
type ResolvedPlan =
  | { readonly kind: 'rate'; readonly rates: readonly RateRamp[]; readonly duration: number }
  | { readonly kind: 'users'; readonly stages: readonly LoadStage[]; readonly pause: number }

export interface ResolvedLoadTest {
  /** Missing if the server runs already. */
  readonly subject: ResolvedSubject | undefined
  /** Of a server that runs already. */
  readonly origin: string | undefined
  readonly request: Omit<RepeatedRequest, 'origin'>
  readonly status: number | undefined
  readonly plan: ResolvedPlan
  readonly connections: number
  readonly warmUp: number
  readonly requestTimeout: number
  readonly startTimeout: number
  readonly stopTimeout: number
  readonly cwd: string
  readonly signal: AbortSignal
  readonly onProgress: (progress: LoadProgress) => void
}

export function resolveLoad(subject: Subject, options: LoadOptions): ResolvedLoadTest {
  const checked = check(loadSchema, options)
  const { connections, warmUp, requestTimeout, startTimeout, stopTimeout } = checked
  const cwd = resolve(checked.cwd ?? '.')
  const origin = originOf(subject)
  return {
    subject: origin === undefined ? resolveSubject('subject', subject, cwd) : undefined,
    origin,
    request: resolveRequest(checked),
    status: checked.status,
    plan: resolvePlan(checked, options),
    ...{ connections, warmUp, requestTimeout, startTimeout, stopTimeout, cwd },
    signal: checked.signal ?? new AbortController().signal,
    onProgress: checked.onProgress ?? (() => {}),
  }
}

/** The origin of a running server, or undefined if the subject is one to start. */
function originOf(subject: Subject): string | undefined {
  if (!(subject instanceof URL) && !(typeof subject === 'string' && /^[a-z][a-z\d+.-]+:\/\//i.test(subject)))
    return undefined
  const url = URL.parse(String(subject))
  if (url?.protocol === 'file:') return undefined
  const isOrigin = url?.protocol === 'http:' && url.pathname === '/' && url.search === '' && url.username === ''
  assertOption(isOrigin, 'subject', 'an http: URL without a path, which is the option "path"', String(subject))
  return url.origin
}

function resolveRequest({
  protocol,
  method,
  path,
  headers,
  body,
  keepAlive,
}: CheckedLoadOptions): ResolvedLoadTest['request'] {
  for (const [name, value] of Object.entries(headers)) {
    assertOption(isHeader(name, value), `headers.${name}`, 'a name and a value of an HTTP header', value)
  }
  if (protocol === 'websocket') {
    const isGet = method.toUpperCase() === 'GET'
    assertOption(isGet, 'method', 'no method with WebSocket, whose messages have none', method)
    return { protocol, method: 'GET', path, headers, body: body ?? 'ping', keepAlive }
  }
  return { protocol, method: method.toUpperCase(), path, headers, body, keepAlive }
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

function resolvePlan(options: CheckedLoadOptions, given: LoadOptions): ResolvedPlan {
  const { stages, rate, duration, timeScale, pause } = options
  if (stages === undefined) {
    for (const name of ['timeScale', 'pause'] as const)
      assertOption(!(name in given), name, 'no value without "stages"', given[name])
    const rates = Array.isArray(rate) ? (rate as (Rate | RateRamp)[]) : [(rate as Rate | RateRamp) ?? SHARES].flat()
    assertOption(rates.length > 0, 'rate', 'at least one rate', rate)
    return { kind: 'rate', rates: rates.map((one) => rampOf(one)), duration }
  }
  for (const name of ['rate', 'duration', 'connections'] as const)
    assertOption(!(name in given), name, `either "stages" or "${name}"`, 'both')
  assertOption(
    stages.some(({ users }) => users > 0),
    'stages',
    'at least one stage with users',
    stages,
  )
  const scaled = stages.map(({ users, duration: full }) => ({ users, duration: full * timeScale }))
  const total = scaled.reduce((sum, stage) => sum + stage.duration, 0)
  assertOption(total >= 100, 'stages', 'stages of at least 100 ms together', total)
  return { kind: 'users', stages: scaled, pause }
}

function rampOf(rate: Rate | RateRamp): RateRamp {
  if (typeof rate !== 'object') return { from: rate, to: rate }
  assertOption(rate.from !== 0 || rate.to !== 0, 'rate', 'a ramp with an end above 0', rate)
  return rate
}
