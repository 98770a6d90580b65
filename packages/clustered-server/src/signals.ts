import type { ClusteredServer } from './clustered-server.ts'

/** Exit code of a process that was told twice to end, and did so with requests that were under way. */
const CUT_SHORT = 1

/** Has signals do what they do to servers elsewhere: see the option `signals`. */
export function obeySignals(server: ClusteredServer): void {
  let isAsked = false
  const end = (): void => {
    if (isAsked) {
      server.kill()
      process.exit(CUT_SHORT)
    }
    isAsked = true
    void server.close().then(() => process.exit())
  }
  const count = (): number => server.status().workers.filter(({ state }) => state === 'active').length
  // What fails is told by events and by the next status; nobody waits for a signal's end.
  const handlers = {
    SIGTERM: end,
    SIGINT: end,
    SIGHUP: () => void server.reload().catch(() => {}),
    SIGTTIN: () => void server.scale(count() + 1).catch(() => {}),
    SIGTTOU: () => void server.scale(Math.max(1, count() - 1)).catch(() => {}),
  } as const
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler)
  server.once('closed', () => {
    for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler)
  })
}
