import { openGenerator } from '../load/generator-client.ts'
import { resolveClaim, resolveSignal } from '../options/resolve-claim.ts'
import { resolveRace } from '../options/resolve.ts'
import type { Claim, ResolvedCase, ResolvedRace, ResolvedSubject } from '../options/resolved.ts'
import type { ClaimOptions, GeneratorName, RaceOptions, Subject } from '../options/types.ts'
import type { Profile } from '../profile/profile.ts'
import { canProfile, profileSubject, profileTime } from '../profile/profile-subject.ts'
import { readEnvironment } from '../report/environment.ts'
import { LatencyHistograms } from '../report/latency-histograms.ts'
import { type RaceResult, toResult } from '../report/result.ts'
import { Looks } from '../statistics/looks.ts'
import type { Round } from '../statistics/measured-round.ts'
import { type Decision, roundsOf } from '../statistics/verdict.ts'
import { compareResponses, type RightResponses } from '../subject/compare-responses.ts'
import { estimateFirstLook, estimateStageTime } from './estimate-time.ts'
import { exclusively } from './race-queue.ts'
import { shuffler } from './schedule.ts'
import { runStage } from './stage.ts'
import type { StageContext } from './stage-context.ts'
import { Stopwatch } from './stopwatch.ts'
import { withPossibleTurns } from './turn-policy.ts'

/** Options of {@link Race.measure} and {@link Race.compareResponses}. */
export interface RunOptions {
  /** Ends the race and its servers when it aborts. Its reason is thrown. */
  signal?: AbortSignal
}

/**
 * A race between servers. It is lazy: no process starts before the first call of a method. It keeps its measurements, so
 * that later claims need fewer or none.
 */
export interface Race {
  /** Names of the subjects, in order. */
  readonly subjects: readonly string[]
  /** The load generator. */
  readonly generator: GeneratorName
  /** Estimated time of {@link Race.measure}, in milliseconds. */
  readonly estimatedTime: number
  /**
   * Starts one process of each subject and compares their responses to all cases, without measuring.
   *
   * @throws SPEED_BOUNDS_WRONG_RESPONSE with a diff
   */
  compareResponses(options?: RunOptions): Promise<void>
  /**
   * Measures one whole stage: `cycles` rounds of `replicas` processes of every subject, for every case.
   *
   * @throws SpeedBoundsError when a subject or the generator fails, which ends the race
   */
  measure(options?: RunOptions): Promise<RaceResult>
  /**
   * Measures until the claim is decided, its budget is spent, or all stages are measured.
   *
   * @throws SpeedBoundsError when a subject or the generator fails, which ends the race
   */
  decide(over: string, claim: ClaimOptions): Promise<Decision>
  /**
   * Profiles one process of each subject that Node runs, under the load of the first case. It counts for no claim.
   *
   * @throws SPEED_BOUNDS_PROFILE_FAILED
   */
  profile(options?: RunOptions): Promise<readonly Profile[]>
  /** All measurements and decisions so far. */
  result(): RaceResult
}

/** A race that can also be asked by how much two subjects differ. */
export interface ComparingRace extends Race {
  /** Measures until a decision of the claim is final, its budget is spent, or all stages are measured. */
  decideWhen(over: string, claim: ClaimOptions, isFinal: (decision: Decision) => boolean): Promise<Decision>
}

/**
 * Races servers that send the same responses.
 *
 * @param subjects - servers by name, see {@link Subject}
 * @param options - the request, the load and the method, see {@link RaceOptions}
 * @throws SPEED_BOUNDS_INVALID_OPTION
 *
 * @example
 * const decision = await race({ fastify: './fastify.ts', express: './express.ts' }, { path: '/' })
 *   .decide('express', { atLeast: 1.5 })
 * console.log(decision.verdict) // 'holds', 'broken' or 'inconclusive'
 */
export function race(subjects: Readonly<Record<string, Subject>>, options: RaceOptions): Race {
  return comparingRace(subjects, options)
}

export function comparingRace(subjects: Readonly<Record<string, Subject>>, options: RaceOptions): ComparingRace {
  return new LazyRace(withPossibleTurns(resolveRace(subjects, options)))
}

/** Part of a stage that must fit into the rest of a budget. Then each process has a few rounds at least. */
const MIN_PART_OF_STAGE = 0.75

class LazyRace implements ComparingRace {
  readonly subjects: readonly string[]
  readonly generator: GeneratorName
  readonly estimatedTime: number
  readonly #race: ResolvedRace
  readonly #shuffle: ReturnType<typeof shuffler>
  readonly #right: RightResponses = new Map()
  readonly #rounds: Round[] = []
  readonly #decisions: Decision[] = []
  #profiles: Profile[] = []
  readonly #latencies = new LatencyHistograms()
  #startedAt: Date | undefined
  #stages = 0
  /** Stages that ended at their first look. */
  readonly #endedEarly = new Set<number>()
  /** Runs during stages, without the wait for other races. */
  readonly #stopwatch = new Stopwatch()
  /** Rounds before a failure prove nothing, so later calls throw it again. */
  #failure: { readonly reason: unknown } | undefined

  constructor(resolved: ResolvedRace) {
    this.#race = resolved
    this.subjects = resolved.subjects.map(({ name }) => name)
    this.generator = resolved.load.generator
    this.estimatedTime = estimateStageTime(resolved, resolved.subjects.length, resolved.cases.length)
    this.#shuffle = shuffler(resolved.seed)
  }

  async compareResponses(options: RunOptions = {}): Promise<void> {
    const signal = resolveSignal(options)
    await exclusively(signal, async (supervisor) => {
      for (const subject of this.#race.subjects) {
        const run = await supervisor.start(subject, { ...this.#race, signal })
        await compareResponses(run, this.#race.cases, this.#right, { ...this.#race.load, signal })
        await run.stop()
      }
    })
  }

  async measure(options: RunOptions = {}): Promise<RaceResult> {
    await this.#stage(this.#race.subjects, this.#race.cases, { signal: resolveSignal(options) })
    return this.result()
  }

  async decide(over: string, options: ClaimOptions): Promise<Decision> {
    return this.decideWhen(over, options, ({ verdict }) => verdict !== 'inconclusive')
  }

  async decideWhen(over: string, options: ClaimOptions, isFinal: (decision: Decision) => boolean): Promise<Decision> {
    const claim = resolveClaim(this.#race, over, options)
    const { signal = new AbortController().signal } = options
    if (this.#failure) throw this.#failure.reason
    const began = this.#stopwatch.time
    const looks = new Looks(claim, () => this.#rounds)
    const left = (): number => claim.budget - (this.#stopwatch.time - began)
    const share = (): number => Math.max(1 - left() / claim.budget, this.#stagesOf(claim) / this.#race.stages)
    // The rounds of another claim's first look are those that this claim's own one would have seen.
    const hasFirstLook = this.#stagesOf(claim) === 0 && roundsOf(claim, this.#rounds).length > 0
    let decision = hasFirstLook ? looks.first() : looks.at(share())
    while (!isFinal(decision) && this.#stagesOf(claim) < this.#race.stages) {
      const [subjects, cases] = this.#needsOf(claim)
      const needed = estimateStageTime(this.#race, subjects.length, cases.length)
      // A first stage is worth its time for its first looks, and a later one if most of it can be measured.
      if (this.#stages > 0 && MIN_PART_OF_STAGE * needed > left()) break
      const isWhole = await this.#stage(subjects, cases, { signal, budget: left() }, (isFirst) => {
        decision = isFirst ? looks.first() : looks.at(share())
        const isDecided = isFinal(decision)
        if (isFirst && isDecided) this.#endedEarly.add(this.#stages)
        return isDecided
      })
      if (!isWhole) break
    }
    if (!isFinal(decision)) decision = looks.at(1)
    if (decision.estimates.length === 0) {
      const needed = estimateFirstLook(this.#race)
      // A race that took longer already needs a part of it at least.
      decision = { ...decision, missing: Math.max(needed - (this.#stopwatch.time - began), needed / 4) }
    }
    this.#decisions.push(decision)
    return decision
  }

  async profile(options: RunOptions = {}): Promise<readonly Profile[]> {
    const signal = resolveSignal(options)
    await exclusively(signal, async (supervisor) => {
      const { subjects, cases, load } = this.#race
      const generator = await openGenerator(load.generator)
      const context = { race: this.#race, supervisor, generator, right: this.#right, signal }
      try {
        this.#profiles = []
        const profiled = subjects.filter(canProfile)
        const began = performance.now()
        for (const [done, subject] of profiled.entries()) {
          const total = profiled.length
          const remaining = (total - done) * profileTime(this.#race)
          const step = { subject: subject.name, stage: Math.max(1, this.#stages), done, total, remaining }
          this.#race.onProgress({ phase: 'profiling', ...step, elapsed: performance.now() - began })
          this.#profiles.push(await profileSubject(context, subject, cases[0]!))
        }
      } finally {
        await generator.close()
      }
    })
    return this.#profiles
  }

  result(): RaceResult {
    return toResult({
      race: this.#race,
      environment: readEnvironment(this.#race.subjects, this.#race.cwd),
      startedAt: this.#startedAt ?? new Date(),
      rounds: this.#rounds,
      decisions: this.#decisions,
      latencyOf: (...wanted) => this.#latencies.latencyOf(...wanted),
      statuses: new Map([...this.#right].map(([name, { status }]) => [name, status])),
      stages: this.#stages,
      profiles: this.#profiles,
    })
  }

  /** Whole stages that measured the subjects and case of a claim. One that a look has ended is none: later claims go on. */
  #stagesOf(claim: Claim): number {
    const stages = new Set(roundsOf(claim, this.#rounds).map(({ stage }) => stage))
    return [...stages].filter((stage) => !this.#endedEarly.has(stage)).length
  }

  /** The first stage measures everything, for the table. Later ones measure only the subjects and case of the claim. */
  #needsOf({ contender, over, case: name }: Claim): [readonly ResolvedSubject[], readonly ResolvedCase[]] {
    const { subjects, cases } = this.#race
    if (this.#stages === 0) return [subjects, cases]
    return [
      subjects.filter((subject) => subject.name === contender || subject.name === over),
      cases.filter((one) => one.name === name),
    ]
  }

  /** Runs a stage, and returns whether it came to its end, or to a look that ended it, within its budget. */
  async #stage(
    subjects: readonly ResolvedSubject[],
    cases: readonly ResolvedCase[],
    { signal, budget }: { signal: AbortSignal; budget?: number },
    onLook?: (isFirst: boolean) => boolean,
  ): Promise<boolean> {
    if (this.#failure) throw this.#failure.reason
    let isWhole = true
    await exclusively(signal, async (supervisor) => {
      const began = performance.now()
      const timeout =
        budget === undefined ? new AbortController().signal : AbortSignal.timeout(Math.max(0, Math.ceil(budget)))
      const generator = await this.#stopwatch.measure(() => openGenerator(this.#race.load.generator))
      this.#startedAt ??= new Date()
      const context: StageContext = {
        race: this.#race,
        subjects,
        cases,
        stage: ++this.#stages,
        supervisor,
        generator,
        signal: AbortSignal.any([signal, timeout]),
        right: this.#right,
        shuffle: this.#shuffle,
        onRound: (round, histogram) => this.#keep(round, histogram),
        onLook,
        onProgress: (progress) => {
          const elapsed = performance.now() - began
          const left = Math.max(0, (budget ?? Infinity) - elapsed)
          const remaining = Math.min(progress.remaining, left)
          this.#race.onProgress({ ...progress, remaining, elapsed, ...meanCpuOf(this.#rounds, progress.subject) })
        },
      }
      try {
        await this.#stopwatch.measure(() => runStage(context))
      } catch (reason) {
        if (reason === timeout.reason && !signal.aborted) {
          isWhole = false
          return
        }
        this.#failure = { reason }
        throw reason
      } finally {
        await generator.close()
      }
    })
    return isWhole
  }

  #keep(round: Round, histogram: string | undefined): void {
    this.#rounds.push({ ...round, at: Date.now() - this.#startedAt!.getTime() })
    if (histogram !== undefined) this.#latencies.add(round, histogram)
  }
}

/** CPU per request of a subject so far. The first case of several stands for all. */
function meanCpuOf(rounds: readonly Round[], subject: string): { cpu?: number } {
  const own = rounds.filter((round) => round.subject === subject && !round.discarded)
  const first = own.filter((round) => round.case === own[0]!.case)
  const responses = first.reduce((sum, round) => sum + round.responses, 0)
  return responses === 0 ? {} : { cpu: first.reduce((sum, round) => sum + round.cpu * round.responses, 0) / responses }
}
