// Sentences about claims and progress, for the terminal and for failed tests.

import type { Metric, Progress } from '../options/types.ts'
import type { Claim } from '../options/resolved.ts'
import type { Decision, Estimate, Verdict } from '../statistics/verdict.ts'
import { bound, confidenceText, ratioWithInterval, seconds, setTime } from './format.ts'

const METRIC_NAMES: Record<Metric, string> = {
  cpu: 'CPU per request',
  throughput: 'throughput',
  p99: 'p99 latency',
  rss: 'memory',
  peakRss: 'peak memory',
}

/** The same for functions. */
const CALL_METRIC_NAMES: Partial<Record<Metric, string>> = { cpu: 'CPU per call', throughput: 'calls per second' }

const VERDICT_TEXTS: Record<Verdict, string> = { holds: 'holds', broken: 'is broken', inconclusive: 'is inconclusive' }

/** `fastify is at least 1.5x express: holds`, with the evidence below. */
export function decisionText({ claim, verdict, estimates, missing }: Decision): string {
  const { contender, atLeast, over, case: name } = claim
  return `${contender} is at least ${bound(atLeast)} ${over} (${name}): ${verdict}\n${evidenceText(claim, estimates, missing)}`
}

/** `expected fastify to be at least 1.5x express, but the claim is broken`, with the evidence below. */
export function failureText({ claim, verdict, estimates, missing }: Decision, isNot: boolean): string {
  const { contender, atLeast, over, case: name } = claim
  const expected = `expected ${contender}${isNot ? ' not' : ''} to be at least ${bound(atLeast)} ${over}`
  return `${expected} (${name}), but the claim ${VERDICT_TEXTS[verdict]}\n${evidenceText(claim, estimates, missing)}`
}

function evidenceText({ unit }: Claim, estimates: readonly Estimate[], missing: number | undefined): string {
  if (estimates.length === 0) {
    return `  ${missingText(missing)}`
  }
  return estimates.map((estimate) => `  ${estimateText(estimate, unit)}`).join('\n')
}

function estimateText(estimate: Estimate, unit: Claim['unit']): string {
  const { metric, replicas, rounds, discarded, confidence, verdict } = estimate
  const evidence = `${replicas.join('+')} processes, ${rounds} rounds${discarded ? `, ${discarded} discarded` : ''}`
  const percent = `${confidenceText(confidence)} interval`
  const reason = whyUnused(estimate)
  const used = reason === undefined ? verdict : 'not used'
  const note = reason === undefined ? '' : `, ${reason}`
  const name = (unit === 'call' && CALL_METRIC_NAMES[metric]) || METRIC_NAMES[metric]
  return `${name}: ${ratioWithInterval(estimate)}, ${used} [${percent}, ${evidence}${note}]`
}

/** Why an estimate is not used, if it is not. */
export function whyUnused({ generatorBound, disturbed }: Estimate): string | undefined {
  if (generatorBound) return 'generator was the bottleneck'
  return disturbed ? 'other programs took CPU' : undefined
}

/** The intervals of a claim in a cell of a table. */
export function measuredText(estimates: readonly Estimate[]): string {
  if (estimates.length === 0) return missingText(undefined)
  return estimates
    .map((estimate) => {
      const note = whyUnused(estimate) === undefined ? '' : ', not used'
      return `${estimate.metric} ${ratioWithInterval(estimate)}${note}`
    })
    .join('; ')
}

/** In place of the interval of two commits. */
export const NO_INTERVAL = 'not enough data for an interval: raise the budget'

/** In place of an interval. */
export function missingText(missing: number | undefined): string {
  return `not enough data yet${missing === undefined ? '' : ` (needs about ${seconds(missing)} more)`}`
}

/** Advice for a claim that is inconclusive, or that only CPU could decide. */
export function adviceText({ claim, verdict, estimates }: Decision, canUseWrk: boolean): string {
  const advice: string[] = []
  if (verdict === 'inconclusive' && estimates.length === 0) {
    advice.push(`The budget of ${setTime(claim.budget)} ended before there was an interval: raise it.`)
  } else if (verdict === 'inconclusive') {
    advice.push(
      `The budget of ${setTime(claim.budget)} or the ${claim.unit === 'call' ? 'processes' : 'stages'} ran out while the bound was inside the interval.`,
    )
    if (estimates.some(({ disturbed }) => disturbed)) {
      advice.push(
        'Other programs kept the machine busy: compare the metric "cpu", raise the budget, or use a quiet machine.',
      )
    }
  }
  if (estimates.some(({ generatorBound }) => generatorBound)) {
    advice.push(
      canUseWrk
        ? 'The generator was the bottleneck, not the servers. wrk is on PATH and faster than autocannon: use the generator "wrk".'
        : 'The generator was the bottleneck, not the servers: compare the metric "cpu", or use a faster generator.',
    )
  }
  return advice.join('\n')
}

/** The same for one claim after the other, and '' where an earlier one had the same advice: claims of a race often do. */
export function adviceOnce(canUseWrk: boolean): (decision: Decision) => string {
  const told = new Set<string>()
  return (decision) => {
    const advice = adviceText(decision, canUseWrk)
    if (told.has(advice)) return ''
    told.add(advice)
    return advice
  }
}

/** `stage 1: warming fastify 3/8, about 14 s left` */
export function progressText({ phase, subject, stage, done, total, remaining }: Progress): string {
  return `stage ${stage}: ${phase} ${subject} ${done + 1}/${total}, about ${seconds(remaining)} left`
}
