import { appendFileSync, writeFileSync } from 'node:fs'
import type { Progress, Race, RaceOptions, Subject } from 'speed-bounds'
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { afterAll, beforeAll, expect, inject, it, type TestContext } from 'vitest'
import type { Bound } from './bounds.ts'
import type { Published } from './published.ts'
import { comparisonsOf, type Outcome, suiteMarkdown, suiteTerminal } from './report.ts'
import { freshFolder, report } from './report-file.ts'
import { claimBudget, excuseOf } from './inconclusive.ts'

/** One race of a suite, and what is said of it. */
export interface SuiteRace {
  title: string
  /** Makes what the subjects need, such as a build, right before the race. */
  prepare?: () => Promise<unknown>
  subjects: Readonly<Record<string, Subject>>
  options: RaceOptions
  /** Claims that must hold. */
  bounds?: readonly Bound[]
  /** Claims that must end `broken`: they show that a wrong claim does not pass. */
  refuted?: readonly Bound[]
  /** What others measured under the load that this race repeats. */
  published?: Published
}

/** `test:perf:all` has the time to tell targets apart; `test:perf` claims bounds that stand below them. */
const CLAIMS_TARGETS = inject('races') === 'all'

/** Time that a claim may take, in milliseconds. */
const BUDGET = CLAIMS_TARGETS ? 900_000 : 40_000
/** A stage that has begun is had to its end, of 20 processes and more. */
const timeout = BUDGET + 600_000
/** A machine that others use needs more than usual; the budget ends a claim that no stage will decide. */
const STAGES = 5

/** How often progress is told, in milliseconds: it costs CPU that the race would find as foreign. */
const TELL = 1000

/**
 * Rounds that are had at one go: by turns, a quota would be filled up again in each pause, and at the end of each turn one
 * of several workers may have work when the others have none.
 */
export function wholeRounds(duration: number): Pick<RaceOptions, 'duration' | 'turn'> {
  return { duration, turn: duration }
}

/** Registers the tests of a suite: each race is measured once, then its claims are decided. */
export function perfSuite(name: string, races: readonly SuiteRace[]): void {
  let folder: URL
  const prepared = races.map((entry) => prepare(entry))
  const outcomes: Outcome[] = []
  /** What the races that have not begun will take. */
  const timeAhead = (from: number): number => prepared.slice(from).reduce((sum, { match }) => sum + match.usualTime, 0)

  beforeAll(() => {
    folder = freshFolder(name)
  })

  for (const [index, { entry, match, listen }] of prepared.entries()) {
    const { title, refuted = [] } = entry
    const bounds = (entry.bounds ?? []).map(({ target, ...bound }): Bound =>
      CLAIMS_TARGETS && target ? { ...bound, atLeast: target } : bound,
    )

    it(`${title}: measures ${match.subjects.join(', ')}`, { timeout }, async (context) => {
      await entry.prepare?.()
      listen(context, timeAhead(index + 1))
      await match.measure({ signal: context.signal })
    })

    for (const { over, ...claim } of bounds) {
      it(`${title}: ${claimText({ over, ...claim })}`, { timeout }, async (context) => {
        listen(context, timeAhead(index + 1))
        await decided(context, match, (budget) => expect(match).toOutpace(over, { budget, ...claim }))
      })
    }
    for (const { over, ...claim } of refuted) {
      it(`${title}: it is broken that ${claimText({ over, ...claim })}`, { timeout }, async (context) => {
        listen(context, timeAhead(index + 1))
        await decided(context, match, (budget) => expect(match).not.toOutpace(over, { budget, ...claim }))
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
  console.log(suiteTerminal(name, outcomes))
  const reported = outcomes.map((outcome) => {
    const { rounds: _rounds, ...result } = outcome.result
    return { suite: name, title: outcome.title, result, comparisons: comparisonsOf(outcome) }
  })
  const command = `npx -y pnpm@12 ${CLAIMS_TARGETS ? 'test:perf:all' : 'test:perf'}`
  report(name, { run: inject('startedAt'), races: reported }, command)
}

function prepare(entry: SuiteRace): {
  entry: SuiteRace
  match: Race
  listen: (context: TestContext, ahead: number) => void
} {
  let tell: ((progress: Progress) => void) | undefined
  const match = race(entry.subjects, { stages: STAGES, ...entry.options, onProgress: (progress) => tell?.(progress) })
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

/** Passes or fails by the verdict, and tells its evidence; skips a claim that the machine left inconclusive. */
async function decided(context: TestContext, match: Race, claim: (budget: number) => Promise<void>): Promise<void> {
  const left = inject('deadline') - Date.now()
  const claimsBefore = match.result().claims.length
  try {
    await claim(claimBudget(BUDGET, left))
  } catch (error) {
    const result = match.result()
    const judged = result.claims[claimsBefore]
    const time = CLAIMS_TARGETS
      ? { isTimeShort: left < BUDGET, mostStages: STAGES }
      : { isTimeShort: true, mostStages: Infinity }
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
