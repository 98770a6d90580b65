import { errorCodes } from '../errors.ts'
import { outliveOutputs } from '../platform/lost-outputs.ts'
import { init } from './commands/init.ts'
import { reload } from './commands/reload.ts'
import { scale } from './commands/scale.ts'
import { start } from './commands/start.ts'
import { status } from './commands/status.ts'
import { stop } from './commands/stop.ts'
import { errorText } from './error-text.ts'
import { EXIT } from './exit-codes.ts'
import { NoServiceError, UsageError } from './usage-error.ts'

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => unknown>> = {
  ...{ start, status, reload, scale, stop, init },
}

outliveOutputs()
try {
  const [name = '', ...args] = process.argv.slice(2)
  if (Object.hasOwn(COMMANDS, name)) await COMMANDS[name]!(args)
  else await start(process.argv.slice(2))
} catch (error) {
  const code = exitCodeOf(error)
  process.exitCode = code
  // A server that is closed during its start ends by the signal. Otherwise open handles of an app could keep this process.
  const isClosed = error instanceof errorCodes.CLUSTERED_SERVER_CLOSED
  process.stderr.write(`clustered-server: ${errorText(error)}\n`, () => {
    if (!isClosed) process.exit(code)
  })
}

function exitCodeOf(error: unknown): number {
  if (error instanceof NoServiceError) return EXIT.noService
  const isUsage = error instanceof UsageError || error instanceof errorCodes.CLUSTERED_SERVER_INVALID_OPTION
  return isUsage ? EXIT.usage : EXIT.failed
}
