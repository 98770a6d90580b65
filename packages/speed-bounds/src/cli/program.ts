import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addBenchCommand } from './bench-command.ts'
import { addCompareCommand } from './compare-command.ts'
import { EXIT, reportError } from './exit-codes.ts'
import { withHelpHint } from './help-hint.ts'
import { handleInterrupts } from './interruption.ts'
import { addLoadCommand } from './load-command.ts'
import { outliveOutputs } from './lost-output.ts'
import { line } from './output.ts'
import { addRaceCommand } from './race-command.ts'
import { addReportCommand } from './report-command.ts'
import { addRunCommand } from './run-command.ts'
import { addSelfCheckCommand } from './self-check-command.ts'

const { description, version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  description: string
  version: string
}

const program = new Command('speed-bounds')
  .description(description)
  .version(version)
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
addRaceCommand(program)
addRunCommand(program)
addCompareCommand(program)
addBenchCommand(program)
addLoadCommand(program)
addReportCommand(program)
addSelfCheckCommand(program)
nameHelpInErrors(program, 'speed-bounds')
for (const command of program.commands) nameHelpInErrors(command, `speed-bounds ${command.name()}`)

outliveOutputs()
handleInterrupts(EXIT.interrupted)

try {
  await program.parseAsync()
} catch (error) {
  line.clear()
  process.exitCode = reportError(error)
}

/** Writes each error of a command's arguments as one line that ends with the command that explains them. */
function nameHelpInErrors(command: Command, name: string): void {
  command.configureOutput({ outputError: (message, write) => write(`${withHelpHint(message, name)}\n`) })
}
