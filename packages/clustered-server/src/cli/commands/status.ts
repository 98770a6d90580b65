import { listServices, statusOf } from '../../control/control-client.ts'
import type { ServiceStatus } from '../../observability/service-status.ts'
import { helpText } from '../help.ts'
import { print } from '../print.ts'
import { type AdminFlags, fetchStatus } from '../services/admin-status.ts'
import { selectService } from '../services/select-service.ts'
import { serviceArguments } from '../services/service-arguments.ts'
import { titleOf } from '../services/status-text.ts'
import { statusText, watchStatus } from '../services/watch-status.ts'
import { NoServiceError, UsageError } from '../usage-error.ts'

/** Reads the current status of the services to show; `undefined` when the only one has ended. */
type Poll = () => Promise<readonly ServiceStatus[] | undefined>

/** `clustered-server status`: shows services. */
export async function status(args: readonly string[]): Promise<void> {
  const { values, positionals, help } = serviceArguments('status', args)
  if (help) return print(helpText('status'))
  const { json, watch } = values
  if (json && watch) throw new UsageError('expected --json or --watch, got both')
  const poll = await pollOf(positionals[0], values)
  const services = await poll()
  if (services === undefined) throw new NoServiceError('the service has ended')
  if (json) return print(services.map((one) => `${JSON.stringify(one)}\n`).join(''))
  if (!watch) return print(statusText(services))
  await watchStatus(poll)
  throw new NoServiceError(`${services.map((one) => titleOf(one)).join(', ')} has ended or does not respond`)
}

async function pollOf(selector: string | undefined, flags: AdminFlags): Promise<Poll> {
  if (flags['admin-port'] !== undefined) {
    if (selector !== undefined) throw new UsageError('expected a service or --admin-port, got both')
    return pollOfPort(flags)
  }
  // Several services are shown in a list.
  if (selector === undefined && (await listServices()).length > 1) return () => statuses()
  try {
    const selected = await selectService(selector)
    if (selected.socket !== undefined) return async () => asList(await statusOf(selected))
    throw new Error(`${selected.pid} has no control socket: set the option "name", or use --admin-port`)
  } catch (error) {
    if (!(error instanceof NoServiceError) || !/^\d+$/.test(selector ?? '')) throw error
    // The admin port of a server without a name.
    const poll = pollOfPort({ 'admin-port': selector! })
    if (await poll().catch(() => undefined)) return poll
    throw error
  }
}

/** A port that stops to respond is that of a service that has ended. The first response must come. */
function pollOfPort(flags: AdminFlags): Poll {
  return async () => [await fetchStatus(flags)]
}

async function statuses(): Promise<readonly ServiceStatus[]> {
  const services = await listServices()
  return services.map((service) => service.status)
}

function asList(one: ServiceStatus | undefined): readonly ServiceStatus[] | undefined {
  return one && [one]
}
