import { type RightAnswers, checkAnswers } from './answers.ts'
import { readEnvironment } from './environment.ts'
import { openGenerator } from './generator.ts'
import {
  type Claim,
  type ClaimOptions,
  type RaceOptions,
  resolveClaim,
  type ResolvedCase,
  resolveRace,
  type ResolvedRace,
  type ResolvedSubject,
  type Subject,
} from './options.ts'
import { type RaceResult, toResult } from './result.ts'
import type { Round } from './round.ts'
import { shuffler } from './schedule.ts'
import { runStage, usualStageTime } from './stage.ts'
import { openWarden, type Warden } from './subject.ts'
import { judge, type Judgement } from './verdict.ts'

/**
 * A race between servers. It is lazy: nothing starts until something is asked of it, and then it
 * measures for as long as the answer needs. What was measured stays, so later questions may cost
 * nothing.
 */
export interface Race {
  /** Names of the subjects, in order. */
  readonly subjects: readonly string[]
  /** Milliseconds that {@link Race.measure} takes, as a rule. */
  readonly usualTime: number
  /**
   * Starts one process of each subject and compares their answers to all cases, without measuring.
   *
   * @throws SpeedBoundsError with the code SPEED_BOUNDS_WRONG_ANSWER and a diff
   */
  compareAnswers(): Promise<void>
  /** Measures one whole stage: every subject, every case, `replicas` processes, `cycles` visits. */
  measure(): Promise<RaceResult>
  /** Measures until the claim is decided or its budget is spent. */
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
  readonly usualTime: number
  readonly #race: ResolvedRace
  readonly #shuffle: ReturnType<typeof shuffler>
  readonly #right: RightAnswers = new Map()
  readonly #rounds: Round[] = []
  readonly #judgements: Judgement[] = []
  #startedAt: Date | undefined
  #stages = 0
  /** Milliseconds per subject from the start of a stage to its first look, as the last stage took them. */
  #timeToLook = 0

  constructor(resolved: ResolvedRace) {
    this.#race = resolved
    this.subjects = resolved.subjects.map(({ name }) => name)
    this.usualTime = usualStageTime(resolved)
    this.#shuffle = shuffler(resolved.seed)
  }

  async compareAnswers(): Promise<void> {
    await this.#inTurn(async (warden) => {
      for (const subject of this.#race.subjects) {
        const run = await warden.start(subject, this.#race)
        await checkAnswers(run, this.#race.cases, this.#right, this.#race.load.requestTimeout)
        await run.stop()
      }
    })
  }

  async measure(): Promise<RaceResult> {
    await this.#stage(this.#race.subjects, this.#race.cases, () => false)
    return this.result()
  }

  async decide(over: string, options: ClaimOptions): Promise<Judgement> {
    const claim = resolveClaim(this.#race, over, options)
    const began = performance.now()
    let judgement = judge(claim, this.#rounds)
    // The first stage visits everything, for the table; later ones only what is still in question.
    while (judgement.verdict === 'inconclusive' && this.#stagesOf(claim) < this.#race.stages) {
      const first = this.#stages === 0
      const subjects = this.#race.subjects.filter(
        ({ name }) => first || name === claim.contender || name === claim.over,
      )
      const cases = this.#race.cases.filter(({ name }) => first || name === claim.case)
      const left = claim.budget - (performance.now() - began)
      // A claim that nothing was measured for gets its look, however small its budget.
      if (judgement.estimates.length > 0 && this.#timeToLook * subjects.length > left) break
      await this.#stage(subjects, cases, () => {
        judgement = judge(claim, this.#rounds)
        return judgement.verdict !== 'inconclusive' || performance.now() - began >= claim.budget
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

  /** Stages that both of a claim took part in: looks at others are none of its own. */
  #stagesOf({ contender, over }: Claim): number {
    const stages = (name: string): Set<number> =>
      new Set(this.#rounds.filter(({ subject }) => subject === name).map(({ stage }) => stage))
    return stages(contender).intersection(stages(over)).size
  }

  async #stage(
    subjects: readonly ResolvedSubject[],
    cases: readonly ResolvedCase[],
    onLook: () => boolean,
  ): Promise<void> {
    await this.#inTurn(async (warden) => {
      const generator = await openGenerator(this.#race.load.generator)
      this.#startedAt ??= new Date()
      const began = performance.now()
      let firstLook: number | undefined
      const stage = runStage({
        race: this.#race,
        subjects,
        cases,
        stage: ++this.#stages,
        warden,
        generator,
        right: this.#right,
        shuffle: this.#shuffle,
        onRound: (round) => this.#rounds.push(round),
        onLook: () => {
          firstLook ??= performance.now()
          this.#timeToLook = (firstLook - began) / subjects.length
          return onLook()
        },
        onProgress: (progress) => this.#race.onProgress({ ...progress, elapsed: performance.now() - began }),
      })
      await stage.finally(() => generator.close())
    })
  }

  async #inTurn(work: (warden: Warden) => Promise<void>): Promise<void> {
    const before = turn
    const { promise, resolve } = Promise.withResolvers<void>()
    turn = promise
    await before
    try {
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
