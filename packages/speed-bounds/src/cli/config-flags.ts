import { Option, type Command } from 'commander'
import { type OutputFiles, withOutputFiles } from './output-files.ts'
import { time } from './time.ts'

/** The flags of the commands that read the configuration file. */
export interface ConfigFlags extends OutputFiles {
  config?: string
  budget?: number
  seed?: number
  profile?: true
}

export function withConfigFlags(command: Command): Command {
  const configured = command
    .option('--config <file>', 'configuration (default: speed-bounds.config.ts)')
    .addOption(new Option('--budget <time>', 'time limit of a claim').argParser(time('ms')))
  return withOutputFiles(configured).option('--profile', 'profile each subject that Node runs, after its race')
}
