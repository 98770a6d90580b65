// Figures as people read them: one place for units and rounding, for all views.

import type { Metric } from '../options/resolve.ts'
import type { Progress } from './progress-line.ts'
import type { Summary } from './result.ts'
import type { Estimate, Judgement } from '../statistics/verdict.ts'

const METRIC_NAMES: Record<Metric, string> = {
  cpu: 'CPU per request',
  throughput: 'throughput',
  p99: 'p99 latency',
  rss: 'memory',
  peakRss: 'peak memory',
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const two = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })
const three = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, minimumSignificantDigits: 3 })

/** `2.31x`, and as many digits for small and for large ratios. */
export function ratio(value: number): string {
  return `${value < 1 ? value.toFixed(3) : three.format(value)}x`
}

/** `2.31x (2.2x to 2.42x)` */
export function ratioWithInterval({ ratio: middle, low, high }: Pick<Estimate, 'ratio' | 'low' | 'high'>): string {
  return `${ratio(middle)} (${ratio(low)} to ${ratio(high)})`
}

export const microseconds = (value: number): string => `${three.format(value)} µs`
export const milliseconds = (value: number): string => `${three.format(value)} ms`
export const perSecond = (value: number): string => whole.format(value)
export const megabytes = (bytes: number): string => `${whole.format(bytes / 1e6)} MB`
export const percentage = (share: number): string => `${two.format(share * 100)} %`
const seconds = (duration: number): string => `${Math.ceil(duration / 1000)} s`

/** `server 92 %`: what limited most rounds. */
export function bottleneck({ bottleneck: counts, rounds }: Summary): string {
  const [name, count] = Object.entries(counts).toSorted(([, a], [, b]) => b - a)[0]!
  return `${name} ${Math.round((count / rounds) * 100)} %`
}

/** `fastify is at least 1.5x express: holds`, and under it what says so. */
export function judgementText({ claim, verdict, estimates }: Judgement): string {
  const title = `${claim.contender} is at least ${claim.atLeast}x ${claim.over} (${claim.case}): ${verdict}`
  if (estimates.length === 0) return `${title}\n  no interval: too few rounds counted`
  return [title, ...estimates.map((estimate) => `  ${estimateText(estimate)}`)].join('\n')
}

function estimateText(estimate: Estimate): string {
  const { metric, replicas, rounds, discarded, confidence, verdict } = estimate
  const evidence = `${replicas.join('+')} processes, ${rounds} rounds${discarded ? `, ${discarded} discarded` : ''}`
  const percent = `${(confidence * 100).toFixed(confidence > 0.999 ? 2 : 1)} % interval`
  const aside = estimate.generatorBound ? '; the generator was the bottleneck, so this decides nothing' : ''
  return `${METRIC_NAMES[metric]}: ${ratioWithInterval(estimate)}, ${aside === '' ? verdict : 'not used'} [${percent}, ${evidence}${aside}]`
}

/** What would help a claim that could not be decided, or that only CPU could decide. */
export function adviceText({ claim, verdict, estimates }: Judgement, canUseWrk: boolean): string {
  const advice: string[] = []
  if (verdict === 'inconclusive') {
    advice.push(
      `The budget of ${seconds(claim.budget)} or the stages ran out before the bound was outside the interval.`,
    )
    if (estimates.length === 0 || estimates.some(({ rounds, discarded }) => discarded > rounds)) {
      advice.push('Most rounds were discarded since other programs kept the machine busy.')
    }
  }
  if (estimates.some(({ generatorBound }) => generatorBound)) {
    advice.push(
      canUseWrk
        ? "The generator was the bottleneck, not the servers. wrk is on PATH and faster than autocannon: generator: 'wrk'."
        : "The generator was the bottleneck, not the servers: compare metric: 'cpu', or use a faster generator.",
    )
  }
  return advice.join('\n')
}

/** `stage 1: warming fastify 3/8, about 14 s left` */
export function progressText({ phase, subject, stage, done, total, remaining }: Progress): string {
  return `stage ${stage}: ${phase} ${subject} ${done + 1}/${total}, about ${seconds(remaining)} left`
}
