import { relative } from 'node:path'
import { resolveFunctionClaim, resolveFunctionRace, type ResolvedFunctionRace } from '../options/function-options.ts'
import type { FunctionRaceOptions } from '../options/function-options.ts'
import { resolveSignal } from '../options/resolve-claim.ts'
import { check } from '../options/check.ts'
import { claimSchema } from '../options/schema.ts'
import type { Claim } from '../options/resolved.ts'
import type { ClaimOptions } from '../options/types.ts'
import type { RunOptions } from '../race/race.ts'
import { exclusively } from '../race/race-queue.ts'
import { shuffler } from '../race/schedule.ts'
import { readEnvironment } from '../report/environment.ts'
import type { Round } from '../statistics/measured-round.ts'
import { type Decision, judge, roundsOf } from '../statistics/verdict.ts'
import { type FunctionRaceResult, ratiosOfFunctions, summarizeFunction } from './function-result.ts'
import { looksOf } from './looks.ts'
import { functionsOfGroup, groupOf, listFunctions, type RacedFunctions, type RunJob } from './raced-functions.ts'
import { measureHeat, type Session, usualTime } from './measure-heat.ts'
import { runFunctionProcess } from './run-function-process.ts'

/**
 * A race between functions. It is lazy: no process starts before the first call of a method. It keeps its measurements, so
 * that later claims need fewer or none.
 */
export interface FunctionRace {
  /**
   * Measures each function in as many processes as the next look at the data has.
   *
   * @throws SpeedBoundsError when a function fails, which ends the race
   */
  measure(options?: RunOptions): Promise<FunctionRaceResult>
  /**
   * Measures until the claim is decided, its budget is spent, or all processes are measured.
   *
   * @throws SpeedBoundsError when a function fails, which ends the race
   */
  decide(over: string, claim: ClaimOptions): Promise<Decision>
  /** All measurements and decisions so far. */
  result(): FunctionRaceResult
}

/** The functions of a race, or the file that has them. */
export type FunctionSource = RacedFunctions | { readonly url: string }

export function raceFunctions(source: FunctionSource, options: FunctionRaceOptions): FunctionRace {
  return new LazyFunctionRace(source, resolveFunctionRace(options))
}

class LazyFunctionRace implements FunctionRace {
  readonly #source: FunctionSource
  readonly #race: ResolvedFunctionRace
  readonly #shuffle: ReturnType<typeof shuffler>
  readonly #looks: readonly number[]
  readonly #rounds: Round[] = []
  readonly #decisions: Decision[] = []
  #functions: RacedFunctions | undefined
  #heats = 0
  #startedAt: Date | undefined
  /** Rounds before a failure prove nothing, so later calls throw it again. */
  #failure: { readonly reason: unknown } | undefined

  constructor(source: FunctionSource, race: ResolvedFunctionRace) {
    this.#source = source
    this.#race = race
    this.#shuffle = shuffler(race.seed)
    this.#looks = looksOf(race.replicas)
  }

  async measure(options: RunOptions = {}): Promise<FunctionRaceResult> {
    const signal = resolveSignal(options)
    await this.#work(signal, undefined, async (session) => {
      const functions = await this.#load(session)
      const next = this.#looks.find((look) => look > this.#heats) ?? 0
      await this.#measureUntil(next, functions.names, () => this.#heats, session)
    })
    return this.result()
  }

  async decide(over: string, options: ClaimOptions): Promise<Decision> {
    const { budget = this.#race.budget, signal = new AbortController().signal } = check(claimSchema, options)
    let decision: Decision | undefined
    await this.#work(signal, budget, async (session) => {
      const functions = await this.#load(session)
      const claim = resolveFunctionClaim(this.#race, functions, over, options)
      decision = await this.#decide(claim, functions.names, session)
    })
    this.#decisions.push(decision!)
    return decision!
  }

  result(): FunctionRaceResult {
    const { warmUp, duration, replicas, budget, alpha, seed, maxForeignCpu, cwd } = this.#race
    const { names, label, file } = this.#functions ?? { names: [], label: '' }
    return {
      version: 1,
      kind: 'functions',
      startedAt: (this.#startedAt ?? new Date()).toISOString(),
      finishedAt: new Date().toISOString(),
      environment: readEnvironment([], cwd),
      name: label,
      file: file === undefined ? null : relative(cwd, file).replaceAll('\\', '/'),
      method: { warmUp, duration, replicas, budget, alpha, seed, looks: this.#looks.length, maxForeignCpu },
      functions: names.flatMap((name) => summarizeFunction(name, this.#rounds) ?? []),
      ratios: ratiosOfFunctions({ names, label }, this.#rounds, { alpha, budget }),
      claims: this.#decisions.map(({ claim: { contender, over, atLeast, alpha: share }, ...decided }) => ({
        ...{ contender, over, atLeast, alpha: share },
        ...decided,
      })),
      rounds: this.#rounds,
    }
  }

  async #decide(claim: Claim, names: readonly string[], session: Session): Promise<Decision> {
    let decision = this.#judge(claim)
    const own = [claim.contender, claim.over]
    const measured = (): number => new Set(roundsOf(claim, this.#rounds).map(({ heat }) => heat)).size
    for (const look of this.#looks) {
      if (decision.verdict !== 'inconclusive') break
      if (look <= measured()) continue
      // The first processes measure everything, for the table. Later ones measure only the functions of the claim.
      const isWhole = await this.#measureUntil(look, measured() === 0 ? names : own, measured, session)
      // If the budget has ended, this look is instead of the next one.
      decision = this.#judge(claim)
      if (!isWhole) break
    }
    if (decision.estimates.length > 0) return decision
    return { ...decision, missing: usualTime(this.#race, this.#looks[0]! * names.length) }
  }

  /** All looks share alpha alike, because the first one may decide as well as the last. */
  #judge(claim: Claim): Decision {
    return judge(claim, this.#rounds, claim.alpha / this.#looks.length)
  }

  /** Does work within a budget. A failure ends the race. */
  async #work(
    signal: AbortSignal,
    budget: number | undefined,
    work: (session: Session) => Promise<void>,
  ): Promise<void> {
    if (this.#failure) throw this.#failure.reason
    await exclusively(signal, async (supervisor) => {
      this.#startedAt ??= new Date()
      const end = budget === undefined ? Number.POSITIVE_INFINITY : performance.now() + budget
      const timeout = budget === undefined ? new AbortController().signal : AbortSignal.timeout(budget)
      try {
        await work({ race: this.#race, supervisor, signal, timeout, end })
      } catch (reason) {
        this.#failure = { reason }
        throw reason
      }
    })
  }

  async #load({ race, supervisor, signal, end }: Session): Promise<RacedFunctions> {
    if ('names' in this.#source) this.#functions = this.#source
    else if (!this.#functions) {
      const { url } = this.#source
      const callTimeout = Math.min(race.callTimeout, Math.max(1, Math.ceil(end - performance.now())))
      const run: RunJob = (job) => runFunctionProcess(supervisor, job, { ...race, callTimeout }, signal)
      const { groups } = await listFunctions(url, run)
      this.#functions = functionsOfGroup(url, groupOf(groups, race.group))
    }
    return this.#functions
  }

  /** Measures heats until there are this many. Returns whether the budget was enough. */
  async #measureUntil(
    look: number,
    names: readonly string[],
    measured: () => number,
    session: Session,
  ): Promise<boolean> {
    const began = performance.now()
    const total = (look - measured()) * names.length
    let done = 0
    while (measured() < look) {
      const rounds = await measureHeat(session, {
        functions: this.#functions!,
        names: this.#shuffle(names),
        number: this.#heats + 1,
        onStep: (step) => {
          const elapsed = performance.now() - began
          const perProcess = done === 0 ? usualTime(this.#race, 1) : elapsed / done
          const remaining = perProcess * (total - done)
          this.#race.onProgress({
            ...step,
            stage: this.#looks.indexOf(look) + 1,
            done: done++,
            total,
            elapsed,
            remaining,
          })
        },
      })
      if (!rounds) return false
      this.#heats++
      const at = Date.now() - this.#startedAt!.getTime()
      this.#rounds.push(...rounds.map((round) => ({ ...round, at })))
    }
    return true
  }
}
