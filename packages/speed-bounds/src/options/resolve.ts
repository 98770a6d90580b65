import { resolve } from 'node:path'
import {
  demand,
  optional,
  onlyKeys,
  isText,
  isProgressListener,
  isRecord,
  isInteger,
  isAtLeast,
  isCountFrom,
  isCount,
  isMilliseconds,
  isPollInterval,
  isAlpha,
  isOneOf,
} from './check.ts'
import { CASE_KEYS, resolveCases } from './resolve-cases.ts'
import { resolveSubject } from './resolve-subject.ts'
import type { ResolvedLoad, ResolvedRace } from './resolved.ts'
import { GENERATORS, HEAT_ORDERS, IDLE_STATES, type RaceOptions, type Subject } from './types.ts'

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
  return {
    subjects: names.map((name) => resolveSubject(name, subjects[name], cwd)),
    cases: resolveCases(options, names),
    load: resolveLoad(options),
    ...resolveMethod(options),
    alpha: optional(options.alpha, 'alpha', isAlpha, 'a number above 0 and at most 0.2') ?? 0.01,
    budget: optional(options.budget, 'budget', isMilliseconds(1), 'whole milliseconds >= 1') ?? 60_000,
    startTimeout:
      optional(options.startTimeout, 'startTimeout', isMilliseconds(1), 'whole milliseconds >= 1') ?? 20_000,
    stopTimeout: optional(options.stopTimeout, 'stopTimeout', isMilliseconds(0), 'whole milliseconds >= 0') ?? 3000,
    seed: optional(options.seed, 'seed', isInteger, 'an integer') ?? Math.trunc(Math.random() * 2 ** 31),
    cwd,
    onProgress: optional(options.onProgress, 'onProgress', isProgressListener, 'a function') ?? (() => {}),
  }
}

/** The parts of a race that belong to the method. */
type Method = Pick<
  ResolvedRace,
  'replicas' | 'warmUp' | 'leastWarmUp' | 'idle' | 'heats' | 'turn' | 'cycles' | 'stages' | 'maxForeignCpu'
>

function resolveMethod(options: RaceOptions): Method {
  return {
    turn: optional(options.turn, 'turn', isMilliseconds(20), 'whole milliseconds >= 20') ?? 200,
    replicas: optional(options.replicas, 'replicas', isCountFrom(2), 'an integer >= 2') ?? 5,
    warmUp: optional(options.warmUp, 'warmUp', isMilliseconds(100), 'whole milliseconds >= 100') ?? 2000,
    leastWarmUp: optional(options.leastWarmUp, 'leastWarmUp', isMilliseconds(1), 'whole milliseconds >= 1') ?? 1200,
    idle: optional(options.idle, 'idle', isOneOf(IDLE_STATES), `one of ${IDLE_STATES.join(', ')}`) ?? 'paused',
    heats: optional(options.heats, 'heats', isOneOf(HEAT_ORDERS), `one of ${HEAT_ORDERS.join(', ')}`) ?? 'interleaved',
    cycles: optional(options.cycles, 'cycles', isCount, 'an integer >= 1') ?? 6,
    stages: optional(options.stages, 'stages', isCount, 'an integer >= 1') ?? 3,
    maxForeignCpu: optional(options.maxForeignCpu, 'maxForeignCpu', isAtLeast(0), 'a number of cores >= 0') ?? 1,
  }
}

function resolveLoad(options: RaceOptions): ResolvedLoad {
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
  return {
    generator: generator ?? 'autocannon',
    busyPoll,
    connections,
    pipelining: optional(options.pipelining, 'pipelining', isCount, 'an integer >= 1') ?? 1,
    duration,
    amount,
    requestTimeout:
      optional(options.requestTimeout, 'requestTimeout', isMilliseconds(1000), 'whole milliseconds >= 1000') ?? 10_000,
  }
}
