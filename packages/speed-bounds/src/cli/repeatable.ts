import { Option } from 'commander'

/** An option that takes one value each time it is given. `without` says what holds if it is not. */
export function repeatable(flags: string, description: string, without: string): Option {
  return new Option(flags, `${description}, repeatable`)
    .argParser((value: string, all: readonly string[]): string[] => [...all, value])
    .default([], without)
}
