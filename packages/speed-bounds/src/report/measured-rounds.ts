// How many rounds and processes a race had, and which rounds count.

import { roundLength } from '../load/round-length.ts'
import { maxStolenCpu } from '../statistics/foreign-cpu.ts'
import { counted } from './format.ts'
import type { RaceResult } from './result.ts'

type Measured = Pick<RaceResult, 'load' | 'method' | 'rounds' | 'summaries'>

/** `200 ms` or `1000 requests` */
export function lengthOfRound({ load }: Pick<Measured, 'load'>): string {
  return load.amount === null ? `${roundLength(load)} ms` : counted(load.amount, 'request')
}

/** `2 processes of each subject in 1 stage`: those that ran. A race that is decided early starts fewer than `replicas`. */
export function processesText({ rounds }: Pick<Measured, 'rounds'>): string {
  const stages = new Set(rounds.map(({ stage }) => stage)).size
  const counts = [...Map.groupBy(rounds, ({ subject }) => subject).values()].map(
    (own) => new Set(own.map(({ replica }) => replica)).size,
  )
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  const processes = least === most ? `${counted(least, 'process')} of each` : `${least} to ${most} processes of a`
  return `${processes} subject in ${counted(stages, 'stage')}`
}

/**
 * Rounds in which others took much CPU, and whether they count: on a machine that is busy throughout, and at an
 * early look, all rounds do. Empty without such rounds.
 */
export function disturbedText({
  method,
  rounds,
  summaries,
}: Pick<Measured, 'method' | 'rounds' | 'summaries'>): string {
  const disturbed = rounds.filter(({ discarded }) => discarded).length
  if (disturbed === 0) return ''
  const leftOut = summaries.reduce((sum, { discarded }) => sum + discarded, 0)
  const maxStolen = maxStolenCpu(method.maxForeignCpu)
  const isStolen = rounds.some(({ discarded, stolenCpu = 0 }) => discarded && stolenCpu > maxStolen)
  const guests = isStolen ? `, or other guests of the hypervisor more than ${Number(maxStolen.toPrecision(2))},` : ''
  const limit = `Other programs took more than ${counted(method.maxForeignCpu, 'core')}${guests}`
  if (disturbed === rounds.length) return `${limit} in every round, so all rounds count.`
  const start = `${limit} in ${disturbed} of ${counted(rounds.length, 'round')}`
  if (leftOut === disturbed) return `${start}, which ${disturbed === 1 ? 'does' : 'do'} not count.`
  const reason = 'because too few would remain without them'
  if (leftOut === 0) return `${start}. All rounds count, ${reason}.`
  return `${start}. Of these, ${leftOut} ${leftOut === 1 ? 'does' : 'do'} not count. The others count, ${reason}.`
}
