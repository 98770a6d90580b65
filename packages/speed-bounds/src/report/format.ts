// Units and rounding of all figures that a person reads.

import type { Environment } from './environment.ts'
import type { Summary } from './result.ts'
import type { Estimate } from '../statistics/verdict.ts'

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const two = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })
const three = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, minimumSignificantDigits: 3 })

/** `2.31x`, with three digits for small and large ratios. */
export function ratio(value: number): string {
  return `${value < 0.9995 ? value.toFixed(3) : three.format(value)}x`
}

/** `1.5x`: the bound of a claim, as it is given. */
export const bound = (value: number): string => `${Number(value.toPrecision(6))}x`

/** Above this factor between its ends, an interval that contains 1 tells nothing. */
const WIDEST = 20

/** `2.31x (2.2x to 2.42x)` */
export function ratioWithInterval({ ratio: middle, low, high }: Pick<Estimate, 'ratio' | 'low' | 'high'>): string {
  const tellsNothing = low < 1 && high > 1 && high / low > WIDEST
  return `${ratio(middle)} (${tellsNothing ? 'too little data for an interval' : `${ratio(low)} to ${ratio(high)}`})`
}

/** `99.5 %`, or `99.96 %` where one digit would hide the rest. */
export function confidenceText(confidence: number): string {
  return `${(confidence * 100).toFixed(confidence > 0.999 ? 2 : 1)} %`
}

export const microseconds = (value: number): string => `${three.format(value)} µs`
/** Microseconds in the unit that fits: `12.3 ns`, `4.56 µs` or `7.89 ms`. */
export function timeOfCall(value: number): string {
  if (value < 1) return `${three.format(value * 1000)} ns`
  return value < 1000 ? microseconds(value) : milliseconds(value / 1000)
}
export const milliseconds = (value: number): string => `${three.format(value)} ms`
export const perSecond = (value: number): string => whole.format(value)
export const megabytes = (bytes: number): string => `${whole.format(bytes / 1e6)} MB`
export const percentage = (share: number): string => `${two.format(share * 100)} %`
export const seconds = (duration: number): string => `${Math.ceil(duration / 1000)} s`

/** A time that a user has set, exactly: `100 ms`, `1.5 s` or `60 s`. */
export const setTime = (duration: number): string => (duration < 1000 ? `${duration} ms` : `${duration / 1000} s`)

/** `1 user`, `2 users`, `2 processes` */
export function counted(count: number, noun: string): string {
  const plural = noun.endsWith('s') ? 'es' : 's'
  return `${count} ${noun}${count === 1 ? '' : plural}`
}

/** `server 92 %`: the most frequent bottleneck, and its share of rounds. */
export function bottleneck({ bottleneck: counts, rounds }: Summary): string {
  const [name, count] = Object.entries(counts).toSorted(([, a], [, b]) => b - a)[0]!
  return `${name} ${Math.round((count / rounds) * 100)} %`
}

/** `AMD EPYC, 2 cores, Linux 6.18.44, Node v24.21.0, commit 0123456789ab.` */
export function machineText({
  cpu,
  cores,
  system,
  node,
  commit,
}: Pick<Environment, 'cpu' | 'cores' | 'system' | 'node' | 'commit'>): string {
  return `${cpu}, ${counted(cores, 'core')}, ${system}, Node ${node}${commit ? `, commit ${commit}` : ''}.`
}
