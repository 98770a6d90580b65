import { setTimeout as sleep } from 'node:timers/promises'
import { command } from '../../control/control-client.ts'
import { type AdminFlags, fetchStatus } from '../services/admin-status.ts'
import { pidOf, selectService, type Selected, titleOf } from '../services/select-service.ts'
import { serviceArguments } from '../services/service-arguments.ts'
import { helpText } from '../help.ts'
import { print } from '../print.ts'
import { signal } from '../services/send-signal.ts'
import { titleOf as titleOfStatus } from '../services/status-text.ts'

/** Milliseconds between two requests for the status during a reload. */
const POLL_MS = 100

/** `clustered-server reload`: replaces the workers. */
export async function reload(args: readonly string[]): Promise<void> {
  const { values, positionals, help } = serviceArguments('reload', args)
  if (help) return print(helpText('reload'))
  const flags = values as AdminFlags
  const selected = await selectService(positionals[0])
  const pid = pidOf(selected)
  const title = titleOf(selected)
  const before = flags['admin-port'] === undefined ? undefined : await fetchStatus(flags)
  if (before && before.pid !== pid) throw new Error(`the admin port belongs to process ${before.pid}, not to ${pid}`)
  if (selected.socket !== undefined) return print(`${title} runs generation ${await generationAfter(selected)}\n`)
  signal(pid, 'SIGHUP')
  if (!before) return print(`${title} was sent SIGHUP: see its log for the reload\n`)
  for (;;) {
    await sleep(POLL_MS)
    const now = await fetchStatus(flags)
    if (now.failedReloads > before.failedReloads) throw new Error(now.reloadError?.split('\n', 1)[0])
    if (now.reloads > before.reloads) return print(`${titleOfStatus(now)} runs generation ${now.generation}\n`)
  }
}

async function generationAfter(service: Exclude<Selected, { socket: undefined }>): Promise<number | undefined> {
  const after = await command(service, '/reload')
  return after?.generation
}
