import type { Rate, RateRamp } from '../options/load-types.ts'
import type { ResolvedLoadTest } from '../options/resolve-load.ts'
import { readTree } from '../platform/tree-usage.ts'
import { readCpu } from '../race/cpu-accounting.ts'
import { deathOf } from '../race/failed-requests.ts'
import { counted } from '../report/format.ts'
import { readEnvironment } from '../report/environment.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import { findCeiling } from './find-ceiling.ts'
import type { Job, LoadGenerator } from './load-generator.ts'
import type { JobRecord } from './load-messages.ts'
import type { LoadCeiling, LoadPhase, LoadReport } from './load-report.ts'
import { type LoadReading, measurePhase, type PhaseLoad } from './measure-phase.ts'
import type { UserStage } from './users.ts'

/** Length of a step of the search for the ceiling, in milliseconds. */
const CEILING_STEP = 2000

/** A job with the readings at the beginning of each phase, and at its end. */
interface MeasuredJob {
  readonly record: JobRecord
  readonly readings: readonly (LoadReading | undefined)[]
  readonly end: LoadReading | undefined
}

/** One load of a subject that responds. */
export class LoadRun {
  readonly #test: ResolvedLoadTest
  readonly #generator: LoadGenerator
  readonly #subject: RunningSubject | undefined
  readonly #startedAt = new Date()

  constructor(test: ResolvedLoadTest, generator: LoadGenerator, subject: RunningSubject | undefined) {
    this.#test = test
    this.#generator = generator
    this.#subject = subject
  }

  async run(): Promise<LoadReport> {
    const { plan } = this.#test
    if (plan.kind === 'users') return this.#report(null, await this.#runStages(plan.stages, plan.pause))
    const ceiling = plan.rates.some(isRelative) ? await this.#findCeiling() : null
    if (!ceiling) await this.#warmUpByRate(plan.rates[0]!)
    const phases: LoadPhase[] = []
    for (const ramp of plan.rates) phases.push(await this.#runRate(ramp, plan.duration, ceiling))
    return this.#report(ceiling, { phases, total: null })
  }

  async #findCeiling(): Promise<LoadCeiling> {
    await this.#warmUpByUsers(Math.min(50, this.#test.connections))
    return findCeiling((users) => this.#measureUsers(users), this.#test.connections)
  }

  async #measureUsers(users: number): Promise<LoadPhase> {
    const load = counted(users, 'user')
    this.#test.onProgress({ step: 'finding the ceiling', load, duration: CEILING_STEP })
    const { record, readings, end } = await this.#job({ users: constantUsers(users, CEILING_STEP, this.#keepAlive) })
    return measurePhase({ load, rate: null, duration: CEILING_STEP }, record.phases.slice(1), pairOf(readings[1], end))
  }

  async #runRate(ramp: RateRamp, duration: number, ceiling: LoadCeiling | null): Promise<LoadPhase> {
    const rate = { from: rateOf(ramp.from, ceiling), to: rateOf(ramp.to, ceiling) }
    const load = rampText(ramp)
    this.#test.onProgress({ step: 'measuring', load, duration })
    const { record, readings, end } = await this.#job({ rate: { ...rate, duration } })
    return measurePhase({ load, rate, duration }, record.phases, pairOf(readings[0], end))
  }

  async #runStages(stages: readonly UserStage[], pause: number): Promise<Pick<LoadReport, 'phases' | 'total'>> {
    await this.#warmUpByUsers(Math.max(...stages.map(({ users }) => users)))
    const duration = stages.reduce((sum, stage) => sum + stage.duration, 0)
    const load = stageText(0, Math.max(...stages.map(({ users }) => users)))
    this.#test.onProgress({ step: 'measuring', load, duration })
    const users = { stages, pause, keepAlive: this.#keepAlive }
    const { record, readings, end } = await this.#job({ users })
    const ends = stages.map((_, index) => readings.slice(index + 1).find((reading) => reading) ?? end)
    const phases = stages.flatMap((stage, index) => {
      const of: PhaseLoad = {
        load: stageText(index === 0 ? 0 : stages[index - 1]!.users, stage.users),
        rate: null,
        duration: stage.duration,
      }
      return stage.duration === 0 ? [] : measurePhase(of, [record.phases[index]!], pairOf(readings[index], ends[index]))
    })
    const first = readings.find((reading) => reading)
    return {
      phases,
      total: measurePhase({ load: 'all stages', rate: null, duration }, record.phases, pairOf(first, end)),
    }
  }

  async #warmUpByRate(ramp: RateRamp): Promise<void> {
    const duration = this.#test.warmUp
    if (duration === 0) return
    const rate = Math.max(rateOf(ramp.from, null), rateOf(ramp.to, null))
    this.#test.onProgress({ step: 'warming', load: `${rate}/s`, duration })
    await this.#job({ rate: { from: rate, to: rate, duration } })
  }

  async #warmUpByUsers(users: number): Promise<void> {
    const duration = this.#test.warmUp
    if (duration === 0) return
    this.#test.onProgress({ step: 'warming', load: counted(users, 'user'), duration })
    await this.#job({ users: constantUsers(users, duration, this.#keepAlive) })
  }

  get #keepAlive(): boolean {
    return this.#test.request.keepAlive
  }

  /** Runs a job, and reads CPU and memory at the beginning of each of its phases. */
  async #job(job: Job): Promise<MeasuredJob> {
    const readings: Promise<LoadReading | undefined>[] = []
    const onPhase = (phase: number): void => void (readings[phase] = this.#read())
    const done = this.#generator.run(job, this.#test.signal, onPhase)
    const record = await (this.#subject ? Promise.race([done, this.#subject.untilDeath]) : done)
    const end = await this.#read()
    if (this.#subject?.died.aborted) throw await deathOf(this.#subject)
    return { record, readings: await Promise.all(Array.from(readings)), end }
  }

  async #read(): Promise<LoadReading | undefined> {
    if (!this.#subject) return undefined
    const [server, generator] = await Promise.all([readCpu(this.#subject), readTree(this.#generator.pid)])
    return { server, generator }
  }

  #report(ceiling: LoadCeiling | null, { phases, total }: Pick<LoadReport, 'phases' | 'total'>): LoadReport {
    const { subject, origin, request, plan, connections, warmUp, requestTimeout, cwd } = this.#test
    const { protocol, method, path, keepAlive } = request
    return {
      version: 1,
      kind: 'load',
      startedAt: this.#startedAt.toISOString(),
      finishedAt: new Date().toISOString(),
      environment: readEnvironment(subject ? [subject] : [], cwd),
      subject: subject?.label ?? origin!,
      request: { protocol, method, path },
      load: {
        kind: plan.kind,
        connections: plan.kind === 'rate' ? connections : null,
        keepAlive,
        pause: plan.kind === 'users' ? plan.pause : null,
        warmUp,
        requestTimeout,
      },
      ceiling,
      phases,
      total,
    }
  }
}

function constantUsers(
  users: number,
  duration: number,
  keepAlive: boolean,
): { stages: UserStage[]; pause: number; keepAlive: boolean } {
  const stages = [
    { users, duration: 0 },
    { users, duration },
  ]
  return { stages, pause: 0, keepAlive }
}

function pairOf(
  before: LoadReading | undefined,
  after: LoadReading | undefined,
): readonly [LoadReading, LoadReading] | undefined {
  return before && after ? [before, after] : undefined
}

function isRelative({ from, to }: RateRamp): boolean {
  return typeof from === 'string' || typeof to === 'string'
}

/** Requests per second of a rate that may be a share of the ceiling. */
function rateOf(rate: Rate, ceiling: LoadCeiling | null): number {
  return typeof rate === 'number' ? rate : (Number.parseFloat(rate) / 100) * ceiling!.rate
}

function rampText({ from, to }: RateRamp): string {
  const text = (rate: Rate): string => (typeof rate === 'number' ? `${rate}/s` : rate)
  return from === to ? text(from) : `${text(from)} to ${text(to)}`
}

function stageText(from: number, to: number): string {
  return from === to ? counted(to, 'user') : `${from} to ${to} users`
}
