import { parseCommandLine } from '../command-line.ts'
import { parseArgsOf } from '../flags.ts'
import { serviceAdvice } from '../unknown-flags.ts'
import { UsageError } from '../usage-error.ts'
import { serviceCommands } from './command-syntax.ts'

/** Arguments of a command on a service. */
export interface ServiceArguments {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
  readonly help: boolean
}

/**
 * Parses the arguments of a command on a service.
 *
 * @param most how many positional arguments it takes
 * @throws UsageError
 */
export function serviceArguments(
  name: keyof typeof serviceCommands,
  args: readonly string[],
  most = 1,
): ServiceArguments {
  const { values, positionals } = parseCommandLine(args, {
    command: `clustered-server ${name}`,
    options: parseArgsOf(serviceCommands[name].flags),
    advice: serviceAdvice,
  })
  if (positionals.length > most)
    throw new UsageError(
      `expected ${most} argument${most > 1 ? 's' : ''} at most, got ${positionals.length}: see clustered-server ${name} --help`,
    )
  return { values, positionals, help: values['help'] === true }
}
