import { resolve } from 'node:path'
import { assertOption, check } from './check.ts'
import { resolveCases } from './resolve-cases.ts'
import { resolveSubject } from './resolve-subject.ts'
import type { ResolvedLoad, ResolvedRace } from './resolved.ts'
import { type CheckedRaceOptions, raceSchema } from './schema.ts'
import type { RaceOptions, Subject } from './types.ts'

export function resolveRace(subjects: Readonly<Record<string, Subject>>, options: RaceOptions): ResolvedRace {
  const names = namesOf(subjects)
  const checked = check(raceSchema, options)
  const { measurement, replicas, alpha, budget, startTimeout, stopTimeout } = checked
  const { busyPoll: _, ...method } = measurement
  const cwd = resolve(checked.cwd ?? '.')
  return {
    subjects: names.map((name) => resolveSubject(name, subjects[name], cwd)),
    cases: resolveCases(checked, options, names),
    load: resolveLoad(checked),
    ...method,
    ...{ replicas, alpha, budget, startTimeout, stopTimeout },
    seed: checked.seed ?? Math.trunc(Math.random() * 2 ** 31),
    cwd,
    onProgress: checked.onProgress ?? (() => {}),
  }
}

function namesOf(subjects: unknown): string[] {
  const isRecord = typeof subjects === 'object' && subjects !== null && !Array.isArray(subjects)
  assertOption(isRecord, 'subjects', 'an object of subjects by name', subjects)
  const names = Object.keys(subjects)
  assertOption(names.length >= 2, 'subjects', 'at least 2 subjects', names.length)
  // JavaScript lists such keys first, which changes the order of the subjects.
  const index = names.find((name) => /^\d+$/.test(name))
  assertOption(index === undefined, 'subjects', 'names that are not numbers', index)
  return names
}

function resolveLoad(options: CheckedRaceOptions): ResolvedLoad {
  const { generator, connections, pipelining, duration, amount, requestTimeout } = options
  const { busyPoll } = options.measurement
  if (amount !== undefined) {
    assertOption(generator !== 'wrk', 'amount', 'no amount with wrk, which counts seconds', amount)
    assertOption(pipelining === 1, 'amount', 'no amount with pipelining, where autocannon drops requests', amount)
    assertOption(amount >= connections, 'amount', `at least the number of connections, ${connections}`, amount)
  }
  const canPoll = busyPoll === 0 || generator !== 'wrk'
  assertOption(canPoll, 'measurement.busyPoll', '0 with wrk, which always sleeps', busyPoll)
  return { generator, busyPoll, connections, pipelining, duration, amount, requestTimeout }
}
