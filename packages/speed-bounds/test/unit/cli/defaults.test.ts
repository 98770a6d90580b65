import { optionsOf } from 'checked-options'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { addBenchCommand } from '../../../src/cli/bench-command.ts'
import { addLoadCommand } from '../../../src/cli/load-command.ts'
import { addRaceCommand } from '../../../src/cli/race-command.ts'
import { addSelfCheckCommand } from '../../../src/cli/self-check-command.ts'
import { functionRaceSchema } from '../../../src/options/function-options.ts'
import { loadSchema } from '../../../src/options/load-schema.ts'
import { raceSchema } from '../../../src/options/schema.ts'

/** Defaults of the flags of a command, by the name of the option that each sets. */
function flagsOf(add: (program: Command) => void): Map<string, unknown> {
  const program = new Command()
  add(program)
  const flags = program.commands[0]!.options.filter(({ defaultValue }) => defaultValue !== undefined)
  return new Map(flags.map((flag) => [flag.attributeName(), flag.defaultValue as unknown]))
}

it.each<[string, (program: Command) => void, ReturnType<typeof optionsOf>, string[]]>([
  ['race', addRaceCommand, optionsOf(raceSchema), ['path', 'header', 'atLeast']],
  ['self-check', addSelfCheckCommand, optionsOf(raceSchema), ['path', 'header', 'atLeast', 'tries']],
  ['bench', addBenchCommand, optionsOf(functionRaceSchema), []],
  ['load', addLoadCommand, optionsOf(loadSchema), ['header']],
])('flags of %s have the defaults of the options in code', (_, add, options, own) => {
  const flags = [...flagsOf(add)].filter(([name]) => !own.includes(name))
  expect(flags.length).toBeGreaterThan(3)
  for (const [name, standard] of flags) {
    const option = options.find((each) => each.name.replace('measurement.', '') === name)
    expect({ name, standard }).toEqual({ name, standard: option?.default })
  }
})
