import { appendFileSync, writeFileSync } from 'node:fs'
import type { Progress, Race, RaceOptions, Subject } from 'speed-bounds'
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { afterAll, beforeAll, expect, inject, it, type TestContext } from 'vitest'
import { type Bound, claimedBound } from './bounds.ts'
import type { Published } from './published.ts'
import { comparisonsOf, type Outcome, suiteMarkdown, suiteTerminal } from './report.ts'
import { commandOf, freshFolder, report } from './report-file.ts'
import { claimBudget, excuseOf } from './inconclusive.ts'

/** One race of a suite, with its claims. */
export interface SuiteRace {
  title: string
  /** Prepares the subjects before the race, for example by a build. */
  prepare?: () => Promise<unknown>
  subjects: Readonly<Record<string, Subject>>
  options: RaceOptions
  /** Claims that must hold. */
  bounds?: readonly Bound[]
  /** Claims that must end `broken`. They show that a wrong claim does not pass. */
  refuted?: readonly Bound[]
  /** Published figures under the load that this race repeats. */
  published?: Published
}

const RACES = inject('races')

/** Time limit of a claim, in milliseconds. `test:perf:all` has the time to resolve targets. */
const BUDGET = RACES === 'all' ? 900_000 : 40_000
/** A stage runs to its end, with 20 processes and more. */
const timeout = BUDGET + 600_000
/**
 * A shared machine needs more stages than usual. `test:perf` has the time for two: the fewer are planned, the more of its
 * alpha a claim has at each.
 */
const STAGES = RACES === 'all' ? 5 : 2

/** Interval of progress reports, in milliseconds. Each costs foreign CPU in the race. */
const TELL = 1000

/** Registers the tests of a suite. Each race is measured once, then its claims are decided. */
export function perfSuite(name: string, races: readonly SuiteRace[]): void {
  let folder: URL
  const prepared = races.map((entry) => prepare(entry))
  const outcomes: Outcome[] = []

  beforeAll(() => {
    folder = freshFolder(name)
  })

  for (const [index, { entry, match, listen }] of prepared.entries()) {
    const { title, refuted = [] } = entry
    const bounds = (entry.bounds ?? []).map((bound) => claimedBound(bound, RACES))
    /** Estimated time of the races after this one. */
    const ahead = prepared.slice(index + 1).reduce((sum, next) => sum + next.match.estimatedTime, 0)

    it(`${title}: measures ${match.subjects.join(', ')}`, { timeout }, async (context) => {
      await entry.prepare?.()
      listen(context, ahead)
      await match.measure({ signal: context.signal })
    })

    for (const { over, ...claim } of bounds) {
      it(`${title}: ${claimText({ over, ...claim })}`, { timeout }, async (context) => {
        listen(context, ahead)
        await decided(context, match, ahead, (budget) => expect(match).toOutpace(over, { budget, ...claim }))
      })
    }
    for (const { over, ...claim } of refuted) {
      it(`${title}: it is broken that ${claimText({ over, ...claim })}`, { timeout }, async (context) => {
        listen(context, ahead)
        await decided(context, match, ahead, (budget) => expect(match).not.toOutpace(over, { budget, ...claim }))
      })
    }
    it(`${title}: writes its result`, () => {
      const result = match.result()
      outcomes.push({ title, result, published: entry.published })
      writeFileSync(new URL(`${fileName(title)}.json`, folder), `${JSON.stringify(result, null, 2)}\n`)
    })
  }

  afterAll(() => writeReports(name, outcomes, folder))
}

/** Writes the suite's report as Markdown, on the terminal and as a page. */
function writeReports(name: string, outcomes: readonly Outcome[], folder: URL): void {
  const markdown = suiteMarkdown(name, outcomes)
  writeFileSync(new URL('report.md', folder), markdown)
  if (process.env['GITHUB_STEP_SUMMARY']) appendFileSync(process.env['GITHUB_STEP_SUMMARY'], markdown)
  console.log(suiteTerminal(name, outcomes, inject('columns')))
  const reported = outcomes.map((outcome) => {
    const { rounds: _rounds, ...result } = outcome.result
    return { suite: name, title: outcome.title, result, comparisons: comparisonsOf(outcome) }
  })
  report(name, { run: inject('startedAt'), races: reported }, commandOf(inject('script')))
}

function prepare(entry: SuiteRace): {
  entry: SuiteRace
  match: Race
  listen: (context: TestContext, ahead: number) => void
} {
  let tell: ((progress: Progress) => void) | undefined
  const match = race(entry.subjects, {
    ...entry.options,
    measurement: { stages: STAGES, ...entry.options.measurement },
    onProgress: (progress) => tell?.(progress),
  })
  return {
    entry,
    match,
    listen({ annotate, task }, ahead) {
      let last = 0
      tell = ({ phase, subject, done, total, remaining }) => {
        if (performance.now() - last < TELL) return
        last = performance.now()
        const left = Math.ceil((remaining + ahead) / 1000)
        if (task.result?.state === 'run')
          void annotate(`${phase} ${subject}, step ${done + 1} of ${total}, about ${left} s left`, 'progress')
      }
    },
  }
}

/**
 * Passes or fails by the verdict, with its evidence. Skips a claim that the machine left inconclusive. The races ahead keep
 * their time.
 */
async function decided(
  context: TestContext,
  match: Race,
  ahead: number,
  claim: (budget: number) => Promise<void>,
): Promise<void> {
  const left = inject('deadline') - Date.now() - ahead
  const claimsBefore = match.result().claims.length
  try {
    await claim(claimBudget(BUDGET, left))
  } catch (error) {
    const result = match.result()
    const judged = result.claims[claimsBefore]
    const time =
      RACES === 'all' ? { isTimeShort: left < BUDGET, mostStages: STAGES } : { isTimeShort: true, mostStages: Infinity }
    const why = judged && excuseOf(judged, result, time)
    if (why === undefined) throw error
    context.skip(`inconclusive, as ${why}\n${(error as Error).message}`)
  }
  await tellEvidence(context, match)
}

async function tellEvidence({ annotate }: TestContext, match: Race): Promise<void> {
  const { estimates } = match.result().claims.at(-1)!
  for (const { metric, ratio, low, high, replicas, generatorBound } of estimates) {
    const aside = generatorBound ? ', limited by the generator' : ''
    await annotate(
      `${metric} ${ratio.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)}), ${replicas.join('+')} processes${aside}`,
      'evidence',
    )
  }
}

export function claimText({ contender, over, atLeast, metric, case: kase }: Bound): string {
  return `${kase ? `${kase}: ` : ''}${contender} is at least ${atLeast}x ${over}${metric ? ` by ${metric}` : ''}`
}

function fileName(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}
