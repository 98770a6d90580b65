import { type RightAnswers, checkAnswers } from '../subject/compare-responses.ts'
import { readEnvironment } from '../report/environment.ts'
import { openGenerator } from '../load/generator.ts'
import {
  type Claim,
  type ClaimOptions,
  type GeneratorName,
  type RaceOptions,
  resolveClaim,
  type ResolvedCase,
  resolveRace,
  resolveSignal,
  type ResolvedRace,
  type ResolvedSubject,
  type Subject,
} from '../options/resolve.ts'
import { type RaceResult, toResult } from '../report/result.ts'
import type { Round } from '../statistics/round.ts'
import { shuffler } from './schedule.ts'
import { runStage, usualStageTime } from './stage.ts'
import { openWarden, type Warden } from '../subject/subject.ts'
import { judge, type Judgement, roundsOf } from '../statistics/verdict.ts'

/** Options of {@link Race.measure} and {@link Race.compareAnswers}. */
export interface RunOptions {
  /** Ends the race and its servers when it aborts; its reason is thrown. */
  signal?: AbortSignal
}

/**
 * A race between servers. It is lazy: nothing starts until something is asked of it, and then it
 * measures for as long as the answer needs. What was measured stays, so later questions may cost
 * nothing.
 */
export interface Race {
  /** Names of the subjects, in order. */
  readonly subjects: readonly string[]
  /** The load generator. */
  readonly generator: GeneratorName
  /** Milliseconds that {@link Race.measure} takes, as a rule. */
  readonly usualTime: number
  /**
   * Starts one process of each subject and compares their answers to all cases, without measuring.
   *
   * @throws SpeedBoundsError with the code SPEED_BOUNDS_WRONG_ANSWER and a diff
   */
  compareAnswers(options?: RunOptions): Promise<void>
  /**
   * Measures one whole stage: every subject, every case, `replicas` processes, `cycles` visits.
   *
   * @throws SpeedBoundsError when a subject or the generator fails; the race is over then
   */
  measure(options?: RunOptions): Promise<RaceResult>
  /**
   * Measures until the claim is decided, or its budget or the race's `stages` are spent.
   *
   * @throws SpeedBoundsError when a subject or the generator fails; the race is over then
   */
  decide(over: string, claim: ClaimOptions): Promise<Judgement>
  /** All that was measured and decided so far. */
  result(): RaceResult
}

/**
 * Races servers that give the same answers.
 *
 * @param subjects - servers by name; see {@link Subject}
 * @param options - the request, the load and the method; see {@link RaceOptions}
 * @throws SpeedBoundsError with the code SPEED_BOUNDS_INVALID_OPTION
 *
 * @example
 * const judgement = await race({ fastify: './fastify.ts', express: './express.ts' }, { path: '/' })
 *   .decide('express', { atLeast: 1.5 })
 * console.log(judgement.verdict) // 'holds', 'broken' or 'inconclusive'
 */
export function race(subjects: Readonly<Record<string, Subject>>, options: RaceOptions): Race {
  const resolved = resolveRace(subjects, options)
  return new LazyRace(resolved)
}

/** Two measurements at once would measure each other: races of one process wait for each other. */
let turn: Promise<unknown> = Promise.resolve()

class LazyRace implements Race {
  readonly subjects: readonly string[]
  readonly generator: GeneratorName
  readonly usualTime: number
  readonly #race: ResolvedRace
  readonly #shuffle: ReturnType<typeof shuffler>
  readonly #right: RightAnswers = new Map()
  readonly #rounds: Round[] = []
  readonly #judgements: Judgement[] = []
  #startedAt: Date | undefined
  #stages = 0
  /** Milliseconds that stages took, without the waiting for other races. */
  #spent = 0
  /** What ended the race: rounds that were measured before a failure prove nothing. */
  #failure: { readonly reason: unknown } | undefined

  constructor(resolved: ResolvedRace) {
    this.#race = resolved
    this.subjects = resolved.subjects.map(({ name }) => name)
    this.generator = resolved.load.generator
    this.usualTime = usualStageTime(resolved, resolved.subjects.length, resolved.cases.length)
    this.#shuffle = shuffler(resolved.seed)
  }

  async compareAnswers(options: RunOptions = {}): Promise<void> {
    const signal = resolveSignal(options)
    await this.#inTurn(signal, async (warden) => {
      for (const subject of this.#race.subjects) {
        const run = await warden.start(subject, { ...this.#race, signal })
        await checkAnswers(run, this.#race.cases, this.#right, { ...this.#race.load, signal })
        await run.stop()
      }
    })
  }

  async measure(options: RunOptions = {}): Promise<RaceResult> {
    await this.#stage(this.#race.subjects, this.#race.cases, resolveSignal(options), () => false)
    return this.result()
  }

  async decide(over: string, options: ClaimOptions): Promise<Judgement> {
    const claim = resolveClaim(this.#race, over, options)
    const signal = resolveSignal(options)
    if (this.#failure) throw this.#failure.reason
    const spentBefore = this.#spent
    let stagesBegun = 0
    let judgement = judge(claim, this.#rounds)
    // The first stage visits everything, for the table; later ones only what is still in question.
    while (judgement.verdict === 'inconclusive' && this.#stagesOf(claim) < this.#race.stages) {
      const first = this.#stages === 0
      const subjects = this.#race.subjects.filter(
        ({ name }) => first || name === claim.contender || name === claim.over,
      )
      const cases = this.#race.cases.filter(({ name }) => first || name === claim.case)
      const left = claim.budget - (this.#spent - spentBefore)
      // A claim that nothing was measured for gets its look, however small its budget.
      const hasItsLook = stagesBegun > 0 || judgement.estimates.length > 0
      if (hasItsLook && usualStageTime(this.#race, subjects.length, cases.length) > left) break
      stagesBegun++
      await this.#stage(subjects, cases, signal, (elapsed) => {
        judgement = judge(claim, this.#rounds)
        return judgement.verdict !== 'inconclusive' || elapsed >= left
      })
    }
    this.#judgements.push(judgement)
    return judgement
  }

  result(): RaceResult {
    return toResult({
      race: this.#race,
      environment: readEnvironment(this.#race.subjects, this.#race.cwd),
      startedAt: this.#startedAt ?? new Date(),
      rounds: this.#rounds,
      judgements: this.#judgements,
      statuses: new Map([...this.#right].map(([name, { status }]) => [name, status])),
      stages: this.#stages,
    })
  }

  /** Stages that measured both of a claim with its case: looks at others are none of its own. */
  #stagesOf(claim: Claim): number {
    return new Set(roundsOf(claim, this.#rounds).map(({ stage }) => stage)).size
  }

  async #stage(
    subjects: readonly ResolvedSubject[],
    cases: readonly ResolvedCase[],
    signal: AbortSignal,
    onLook: (elapsed: number) => boolean,
  ): Promise<void> {
    if (this.#failure) throw this.#failure.reason
    await this.#inTurn(signal, async (warden) => {
      const generator = await openGenerator(this.#race.load.generator)
      this.#startedAt ??= new Date()
      const began = performance.now()
      const stage = runStage({
        race: this.#race,
        subjects,
        cases,
        stage: ++this.#stages,
        warden,
        generator,
        signal,
        right: this.#right,
        shuffle: this.#shuffle,
        onRound: (round) => this.#rounds.push(round),
        onLook: () => onLook(performance.now() - began),
        onProgress: (progress) => this.#race.onProgress({ ...progress, elapsed: performance.now() - began }),
      })
      try {
        await stage
      } catch (reason) {
        this.#failure = { reason }
        throw reason
      } finally {
        this.#spent += performance.now() - began
        await generator.close()
      }
    })
  }

  async #inTurn(signal: AbortSignal, work: (warden: Warden) => Promise<void>): Promise<void> {
    const before = turn
    const { promise, resolve } = Promise.withResolvers<void>()
    turn = promise
    await before
    try {
      signal.throwIfAborted()
      const warden = await openWarden()
      try {
        await work(warden)
      } finally {
        await warden.close()
      }
    } finally {
      resolve()
    }
  }
}
