// Tells systemd the state of the server: see sd_notify(3).

import { execFile } from 'node:child_process'
import { counted } from '../observability/counted.ts'
import type { Logger } from '../options/types.ts'
import type { ClusteredServer } from '../server-types.ts'

/**
 * Notifies systemd, for services of `Type=notify` or `notify-reload`, and its watchdog. Node cannot open the UNIX
 * datagram socket, so `systemd-notify` is run, which needs `NotifyAccess=all`. See docs/measurements.md#watch-processes
 */
export function notifySystemd(server: ClusteredServer, logger: Logger | undefined): void {
  if (!process.env['NOTIFY_SOCKET']) return
  let isStopping = false
  let last: Promise<void> = Promise.resolve()
  const send = sender(logger)
  // In order, and nothing after STOPPING=1.
  const notify = (...fields: string[]): void => {
    last = last.then(() => (isStopping ? undefined : send(...fields)))
  }
  const ready = (): void => notify('READY=1', `STATUS=${statusText(server)}`)
  // Until the end: finishing requests may take longer than the watchdog's timeout.
  const watchdog = startWatchdog(() => void send('WATCHDOG=1'))
  server.on('ready', ready)
  server.on('reload', () =>
    notify('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`, 'STATUS=Reloading'),
  )
  server.on('reloaded', ready)
  server.on('reloadFailed', () => notify('READY=1', 'STATUS=The new version did not start, the old one keeps running'))
  server.on('closing', () => {
    isStopping = true
    // Sent immediately, because this process may end soon.
    void send('STOPPING=1', 'STATUS=Shutting down')
  })
  server.once('closed', () => clearInterval(watchdog))
}

function sender(logger: Logger | undefined): (...fields: string[]) => Promise<void> {
  let hasFailed = false
  return (...fields) =>
    new Promise((resolve) => {
      execFile('systemd-notify', fields, (error) => {
        if (error && !hasFailed) {
          hasFailed = true
          logger?.warn({ err: error }, `cannot notify systemd: ${error.message}`)
        }
        resolve()
      })
    })
}

/** Beats twice per interval of the watchdog, if it watches this process. */
function startWatchdog(beat: () => void): NodeJS.Timeout | undefined {
  const { WATCHDOG_USEC: limit, WATCHDOG_PID: pid } = process.env
  const milliseconds = Number(limit) / 2000
  if (!(milliseconds >= 1) || (pid && Number(pid) !== process.pid)) return undefined
  return setInterval(beat, milliseconds).unref()
}

function statusText(server: ClusteredServer): string {
  const { generation, workers } = server.status()
  const { length } = workers.filter(({ state }) => state === 'active')
  return length === 0 ? 'One process' : `${counted(length, 'worker')} of generation ${generation}`
}
