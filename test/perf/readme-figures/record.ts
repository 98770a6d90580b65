// docs/results.json: the measured figures that READMEs state, each with the run that it comes from.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ReportedRace } from '../html-report.ts'
import type { Comparison } from '../report.ts'
import { type FigureName, figureSources, type FigureSource } from './figures.ts'

export interface Run {
  readonly machine: string
  readonly node: string
  /** Day of its end. */
  readonly date: string
  readonly command: string
}

export interface Figure {
  /** A run by its name. */
  readonly run: string
  readonly ratio: number
  /** Bounds of the interval. */
  readonly low: number
  readonly high: number
  /** CPU per request in µs, if the figure compares that. */
  readonly ours?: number
  readonly theirs?: number
}

export interface Results {
  readonly runs: Readonly<Record<string, Run>>
  readonly figures: Readonly<Record<FigureName, Figure>>
}

/** The races of one run, and tables of suites without races. */
export interface FinishedRun {
  /** When it began, as Date.now() has it. */
  readonly startedAt: number
  readonly races: readonly ReportedRace[]
  readonly tables: readonly Comparison[]
  readonly command: string
}

export const RESULTS_FILE: URL = new URL('../../../docs/results.json', import.meta.url)

export function readResults(): Results {
  return JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as Results
}

interface SuiteFile {
  readonly run: number
  readonly races?: readonly ReportedRace[]
  readonly tables?: readonly Comparison[]
  readonly command: string
}

/** The last run whose suites have written to a folder such as `results/`. */
export function lastRun(folder: URL): FinishedRun | undefined {
  if (!existsSync(folder)) return undefined
  const suites = readdirSync(folder)
    .flatMap((name) => [new URL(`${name}/races.json`, folder), new URL(`${name}/tables.json`, folder)])
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as SuiteFile)
  const startedAt = Math.max(...suites.map(({ run }) => run))
  const own = suites.filter(({ run }) => run === startedAt)
  if (own.length === 0) return undefined
  return {
    startedAt,
    command: own[0]!.command,
    races: own.flatMap(({ races = [] }) => races),
    tables: own.flatMap(({ tables = [] }) => tables),
  }
}

/** The figures of a run in place of the recorded ones. Figures that it did not measure stay. */
export function withRun(results: Results, run: FinishedRun): Results {
  const name = new Date(run.startedAt).toISOString().slice(0, 16)
  const measured = Object.entries(figureSources).flatMap(([figure, source]) => {
    const found = measuredBy(run, source)
    return found ? [[figure, { run: name, ...found }] as const] : []
  })
  if (measured.length === 0) throw new Error('Expected a run that measured a figure of the READMEs, found none.')
  const figures = { ...results.figures, ...(Object.fromEntries(measured) as Partial<Record<FigureName, Figure>>) }
  const used = new Set(Object.values(figures).map((figure) => figure.run))
  const runs = Object.entries({ ...results.runs, [name]: runOf(run) }).filter(([one]) => used.has(one))
  return { runs: Object.fromEntries(runs), figures }
}

/** Whether a run measured a figure that READMEs state. */
export function hasFigures(run: FinishedRun): boolean {
  return Object.values(figureSources).some((source) => measuredBy(run, source) !== undefined)
}

function runOf({ races, command }: FinishedRun): Run {
  const { environment, finishedAt } = races.at(-1)!.result
  const machine = `${environment.cpu}, ${environment.cores} cores`
  return { machine, node: environment.node.slice(1), date: finishedAt.slice(0, 10), command }
}

/** The figure of a source, by the last claim that compared it, rounded to the digits that are shown. */
export function measuredBy({ races }: FinishedRun, source: FigureSource): Omit<Figure, 'run'> | undefined {
  const { contender, over, case: kase, metric = 'cpu' } = source
  for (const race of races.filter(({ suite, title }) => source.races.includes(`${suite}: ${title}`))) {
    const { claims, ratios, summaries } = race.result
    const isOf = (one: { contender: string; over: string; case: string }): boolean =>
      one.contender === contender && one.over === over && one.case === kase
    const estimates = [...ratios.filter(isOf), ...claims.filter(isOf).flatMap((claim) => claim.estimates)]
    const estimate = estimates.findLast((one) => one.metric === metric)
    if (!estimate) continue
    const cost = (subject: string): number =>
      rounded(summaries.find((one) => one.subject === subject && one.case === kase)!.mean.cpu)
    const [ratio, low, high] = [estimate.ratio, estimate.low, estimate.high].map(rounded) as [number, number, number]
    return { ratio, low, high, ...(metric === 'cpu' && { ours: cost(contender), theirs: cost(over) }) }
  }
  return undefined
}

/** Three digits, and two after the point below 10. */
function rounded(value: number): number {
  return Number(value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0))
}
