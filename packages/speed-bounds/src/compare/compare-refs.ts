import { realpathSync } from 'node:fs'
import type { Config } from '../config/read-config.ts'
import { assertOption } from '../options/check.ts'
import type { CaseOptions, Metric, Progress, RaceOptions, Subject } from '../options/types.ts'
import { comparingRace, type ComparingRace } from '../race/race.ts'
import type { CaseComparison, Comparison } from './comparison.ts'
import { repositoryOf } from './git.ts'
import { type CaseJudgment, judgeCase } from './judge-case.ts'
import { type OnStep, prepare } from './prepare.ts'
import { type Ref, resolveRef } from './resolve-ref.ts'
import { assertExists, type Place, subjectAt } from './subject-at-ref.ts'
import { openWorkspace } from './workspace.ts'

const DEFAULT_ALPHA = 0.01
const DEFAULT_BUDGET = 60_000

/** Options of {@link compareRefs}. */
export interface CompareOptions {
  readonly base: string
  readonly head: string
  /** Names of subjects. Empty: all of the configuration. */
  readonly subjects: readonly string[]
  readonly margin: number
  readonly metric: Metric
  /** Time limit of one case, in milliseconds. */
  readonly budget: number | undefined
  /** Whether to profile each subject at both refs, after its race. */
  readonly profile: boolean
  /** Takes the error of a profile, which ends no comparison. */
  readonly onProfileFailed: (error: unknown) => void
  readonly signal: AbortSignal
  readonly onStep: OnStep
  readonly onProgress: (progress: Progress) => void
}

/** Races each subject of a configuration at one commit against the same subject at another one. */
export async function compareRefs(config: Config, options: CompareOptions): Promise<Comparison> {
  const { signal, onStep } = options
  const startedAt = new Date().toISOString()
  const repository = await repositoryOf(config.directory)
  const place = { repository, cwd: realpathSync(config.raceOptions.cwd) }
  const inRepository = { ...config, directory: realpathSync(config.directory) }
  const [base, head] = [await resolveRef(repository, options.base), await resolveRef(repository, options.head)]
  const subjects = chosen(config, options.subjects)
  // Fails on invalid options before the first install.
  for (const [name, subject] of subjects) {
    subjectAt(name, subject, place, repository)
    openRace(name, [subject, subject], { config, base, head, options })
  }
  const workspace = await openWorkspace(repository, signal)
  try {
    const checkouts = [
      await prepare(workspace, repository, base, { name: 'base', config: inRepository, onStep }),
      await prepare(workspace, repository, head, { name: 'head', config: inRepository, onStep }),
    ] as const
    const matches = subjects.map(([name, subject]) => {
      const pair = atBoth(name, subject, { place, checkouts, refs: [base, head] })
      return { name, match: openRace(name, pair, { config, base, head, options }) }
    })
    const cases: CaseComparison[] = []
    for (const { name, match } of matches) {
      cases.push(...(await compareSubject(name, match, config, options)))
      if (options.profile) await tryProfile(match, options)
    }
    return {
      ...{ kind: 'comparison', version: 1, startedAt, finishedAt: new Date().toISOString() },
      ...{ base: sideOf(base), head: sideOf(head), margin: options.margin, metric: options.metric, cases },
      races: Object.fromEntries(matches.map(({ name, match }) => [name, match.result()])),
    }
  } finally {
    await workspace.close()
  }
}

async function tryProfile(match: ComparingRace, { signal, onProfileFailed }: CompareOptions): Promise<void> {
  try {
    await match.profile({ signal })
  } catch (error) {
    if (signal.aborted) throw error
    onProfileFailed(error)
  }
}

function chosen({ subjects }: Config, names: readonly string[]): [string, Subject][] {
  const known = Object.keys(subjects)
  const unknown = names.find((name) => !known.includes(name))
  assertOption(unknown === undefined, 'subject', `one of ${known.join(', ')}`, unknown)
  return Object.entries(subjects).filter(([name]) => names.length === 0 || names.includes(name))
}

/** The subject in both checkouts. */
function atBoth(
  name: string,
  subject: Subject,
  { place, checkouts, refs }: { place: Place; checkouts: readonly [string, string]; refs: readonly [Ref, Ref] },
): [Subject, Subject] {
  const pair = checkouts.map((checkout) => subjectAt(name, subject, place, checkout)) as [Subject, Subject]
  assertExists(
    name,
    pair.map((one, index) => ({ ref: refs[index]!.name, subject: one, checkout: checkouts[index]! })),
  )
  return pair
}

function openRace(
  name: string,
  [atBase, atHead]: readonly [Subject, Subject],
  { config, base, head, options }: { config: Config; base: Ref; head: Ref; options: CompareOptions },
): ComparingRace {
  const labels = [`${name}@${base.name}`, `${name}@${head.name}${base.name === head.name ? ' (2)' : ''}`] as const
  const { budget, onProgress } = options
  return comparingRace(
    { [labels[0]]: atBase, [labels[1]]: atHead },
    {
      ...withOwnErrorRate(config.raceOptions, name),
      ...(budget === undefined ? {} : { budget }),
      onProgress,
    },
  )
}

/** A `maxErrorRate` of single subjects becomes the rate of this subject, at both refs. */
function withOwnErrorRate(options: RaceOptions, name: string): RaceOptions {
  const ofSubject = <T extends Partial<CaseOptions>>(value: T): T => {
    const { maxErrorRate } = value
    if (typeof maxErrorRate !== 'object' || maxErrorRate === null) return value
    return { ...value, maxErrorRate: Object.hasOwn(maxErrorRate, name) ? maxErrorRate[name]! : 0 }
  }
  const { cases } = options
  if (typeof cases !== 'object' || cases === null) return ofSubject(options)
  const entries = Object.entries(cases).map(([key, value]) => [key, ofSubject(value)] as const)
  return { ...ofSubject(options), cases: Object.fromEntries(entries) }
}

async function compareSubject(
  name: string,
  match: ComparingRace,
  { raceOptions }: Config,
  { margin, metric, signal, budget = raceOptions.budget ?? DEFAULT_BUDGET }: CompareOptions,
): Promise<CaseComparison[]> {
  const { alpha = DEFAULT_ALPHA } = raceOptions
  const judged: [string, CaseJudgment][] = []
  for (const { name: testCase } of match.result().cases) {
    judged.push([testCase, await judgeCase(match, { case: testCase, metric, margin, alpha, budget, signal })])
  }
  const { summaries } = match.result()
  const meanOf = (subject: string | undefined, testCase: string): number | null =>
    summaries.find((summary) => summary.subject === subject && summary.case === testCase)?.mean[metric] ?? null
  return judged.map(([testCase, { verdict, gate, interval }]) => ({
    ...{ subject: name, case: testCase, verdict, gate },
    ...{ ratio: null, low: null, high: null, confidence: null, ...interval },
    base: meanOf(match.subjects[0], testCase),
    head: meanOf(match.subjects[1], testCase),
  }))
}

function sideOf({ name, commit }: Ref): Comparison['base'] {
  return { ref: name, commit }
}
