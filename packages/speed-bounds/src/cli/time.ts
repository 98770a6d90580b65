import { InvalidArgumentError } from 'commander'

/** Microseconds of each unit. The signs of micro are two characters that look alike. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ...['us', '\u00B5s', '\u03BCs'].map((name): [string, number] => [name, 1]),
  ['ms', 1e3],
  ['s', 1e6],
  ['m', 60e6],
  ['h', 3600e6],
])

/** A parser of times with units, such as `60s`. It returns a whole number in this unit. */
export function time(unit: 'ms' | 'us'): (text: string) => number {
  return (text) => {
    const [, digits, name = ''] = /^(\d+(?:\.\d+)?) ?(\D+)$/.exec(text) ?? []
    const factor = UNITS.get(name)
    if (digits === undefined || factor === undefined) {
      throw new InvalidArgumentError('Expected a time with its unit, such as 60s or 200ms.')
    }
    return Math.round((Number(digits) * factor) / UNITS.get(unit)!)
  }
}
