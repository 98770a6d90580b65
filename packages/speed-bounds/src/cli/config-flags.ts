import { Option, type Command } from 'commander'
import { time } from './time.ts'

/** The flags of the commands that read the configuration file. */
export interface ConfigFlags {
  config?: string
  budget?: number
  seed?: number
  json?: string
  markdown?: string
  html?: string
  profile?: true
}

export function withConfigFlags(command: Command): Command {
  return command
    .option('--config <file>', 'configuration (default: speed-bounds.config.ts)')
    .addOption(new Option('--budget <time>', 'time limit of a claim').argParser(time('ms')))
    .option('--json <file>', 'write the result as JSON')
    .option('--markdown <file>', 'write the tables as Markdown')
    .option('--html <file>', 'write a report with plots')
    .option('--profile', 'profile each subject that Node runs, after its race')
}
