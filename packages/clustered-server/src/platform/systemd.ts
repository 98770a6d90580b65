// What a service of systemd is expected to tell and to take: see sd_notify(3) and sd_listen_fds(3).

import { execFile } from 'node:child_process'
import type { ClusteredServer } from '../types.ts'
import type { Logger } from '../options/options.ts'

/** The first descriptor that systemd passes. */
const FIRST_FD = 3

/**
 * Tells systemd what it wants to know of a service of `Type=notify` or `notify-reload`, and its watchdog that this
 * process is alive. Its socket is one of datagrams, which Node has none of on Unix sockets: systemd-notify speaks for
 * this process, at 6 ms of its own for each word, and `NotifyAccess=all` lets it.
 */
export function tellSystemd(server: ClusteredServer, logger: Logger | undefined): void {
  if (!process.env['NOTIFY_SOCKET']) return
  let isMissing = false
  let ends = false
  let turn: Promise<void> = Promise.resolve()
  const say = (...words: string[]): Promise<void> =>
    new Promise((resolve) => {
      execFile('systemd-notify', words, (error) => {
        if (error && !isMissing) {
          isMissing = true
          logger?.warn({ err: error }, `systemd is told nothing: ${error.message}`)
        }
        resolve()
      })
    })
  // One word after the other, and none after the last one.
  const tell = (...words: string[]): void => {
    turn = turn.then(() => (ends ? undefined : say(...words)))
  }
  const ready = (): void => tell('READY=1', `STATUS=${statusText(server)}`)
  // Until the end: to let requests end may take longer than its patience.
  const watchdog = watch(() => void say('WATCHDOG=1'))
  server.on('ready', ready)
  server.on('reload', () =>
    tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`, 'STATUS=Reloading'),
  )
  server.on('reloaded', ready)
  server.on('reloadFailed', () => tell('READY=1', 'STATUS=The new version does not start, the old one goes on'))
  server.on('closing', () => {
    ends = true
    // Not in its turn: this process may be gone by then.
    void say('STOPPING=1', 'STATUS=Lets requests end')
  })
  server.once('closed', () => clearInterval(watchdog))
}

/** Does something twice as often as the watchdog needs, if it watches this process. */
function watch(beat: () => void): NodeJS.Timeout | undefined {
  const { WATCHDOG_USEC: limit, WATCHDOG_PID: pid } = process.env
  const milliseconds = Number(limit) / 2000
  if (!(milliseconds >= 1) || (pid && Number(pid) !== process.pid)) return undefined
  return setInterval(beat, milliseconds).unref()
}

function statusText(server: ClusteredServer): string {
  const { generation, workers } = server.status()
  const { length } = workers.filter(({ state }) => state === 'active')
  return length === 0 ? 'One process' : `${length} workers of generation ${generation}`
}

/** The descriptor of the listening socket that systemd, or what does as it does, has passed to this process. */
export function passedSocket(): number | undefined {
  const { LISTEN_PID: pid, LISTEN_FDS: count } = process.env
  if (Number(pid) !== process.pid || !(Number(count) >= 1)) return undefined
  // They are for this process, and for this once.
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete process.env[name]
  return FIRST_FD
}
