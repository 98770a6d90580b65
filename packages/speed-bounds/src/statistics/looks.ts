import type { Claim } from '../options/resolved.ts'
import { AlphaSpending } from './alpha-spending.ts'
import type { Round } from './measured-round.ts'
import { type Decision, judge } from './verdict.ts'

/** The looks of a claim at the growing data of its race. */
export class Looks {
  readonly #claim: Claim
  readonly #rounds: () => readonly Round[]
  readonly #spending: AlphaSpending
  #last = { rounds: 0, alpha: 0 }

  constructor(claim: Claim, rounds: () => readonly Round[]) {
    this.#claim = claim
    this.#rounds = rounds
    this.#spending = new AlphaSpending(claim.alpha)
  }

  /** A look while only the first processes are measured. */
  first(): Decision {
    return this.#look(this.#spending.ofFirstLook())
  }

  /** A look after this share of the race. 1 is the last one. */
  at(share: number): Decision {
    return this.#look(this.#spending.ofLookAt(share))
  }

  #look(alpha: number): Decision {
    const rounds = this.#rounds()
    // A second look at the same data may spend the alpha of both: its interval lies within that of the first one.
    const spent = rounds.length === this.#last.rounds ? this.#last.alpha + alpha : alpha
    this.#last = { rounds: rounds.length, alpha: spent }
    return judge(this.#claim, rounds, spent)
  }
}
