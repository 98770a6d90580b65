import { InvalidArgumentError } from 'commander'
import parse from 'parse-duration'

/** A parser of times with units, such as `60s`. It returns a whole number in this unit. */
export function time(unit: 'ms' | 'us'): (text: string) => number {
  return (text) => {
    // parse-duration takes a number without a unit for milliseconds.
    const value = /\d$/.test(text) ? null : parse(text, unit)
    if (value === null || value < 0)
      throw new InvalidArgumentError('Expected a time with its unit, such as 60s or 200ms.')
    return Math.round(value)
  }
}
