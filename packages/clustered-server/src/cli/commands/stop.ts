import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { command, LostServiceError } from '../../control/control-client.ts'
import { helpText } from '../help.ts'
import { print } from '../print.ts'
import { pidOf, selectService, titleOf } from '../services/select-service.ts'
import { serviceArguments } from '../services/service-arguments.ts'
import { parseWithUnit } from '../units.ts'
import { UsageError } from '../usage-error.ts'
import { signal } from '../services/send-signal.ts'

/** Milliseconds between two looks at the process. */
const POLL_MS = 50
/** Milliseconds to wait beyond what the shutdown may take. */
const MARGIN = 5000
/** Milliseconds to wait where the service does not say how long its shutdown may take. */
const DEFAULT_TIMEOUT = 60_000

/** `clustered-server stop`: shuts a service down, and waits for its end. */
export async function stop(args: readonly string[]): Promise<void> {
  const { values, positionals, help } = serviceArguments('stop', args)
  if (help) return print(helpText('stop'))
  const given = values['timeout'] === undefined ? undefined : timeoutFrom(values['timeout'] as string)
  const selected = await selectService(positionals[0])
  const pid = pidOf(selected)
  const title = titleOf(selected)
  const identity = identityOf(pid)
  let timeout = given ?? DEFAULT_TIMEOUT
  if (selected.socket === undefined) signal(pid, 'SIGTERM')
  else {
    timeout = given ?? selected.status.stopTimeout + MARGIN
    await command(selected, '/stop').catch((error: unknown) => {
      // Its end is what is waited for.
      if (!(error instanceof LostServiceError)) throw error
    })
  }
  const end = performance.now() + timeout
  while (identityOf(pid) === identity) {
    if (performance.now() >= end)
      throw new Error(`${title} has not ended after ${timeout} ms: wait, or run kill ${pid}, which aborts its requests`)
    await sleep(POLL_MS)
  }
  print(`${title} has ended\n`)
}

function timeoutFrom(text: string): number {
  const timeout = parseWithUnit(text, 'milliseconds')
  if (typeof timeout === 'string') throw new UsageError(`expected --timeout to be a time such as 30s, got "${text}"`)
  return timeout
}

/** What tells a running process from a later one with its number; `undefined` when it has ended. */
function identityOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name, in brackets, may contain spaces.
    const [state, ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // Nobody has asked for the exit code of a zombie yet.
    return state === 'Z' || state === 'X' ? undefined : others[18]
  } catch {
    return process.platform === 'linux' ? undefined : String(pid)
  }
}
