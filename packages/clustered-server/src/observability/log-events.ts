import { fileURLToPath } from 'node:url'
import { withPlaceIn } from '../app/error-place.ts'
import { counted } from './counted.ts'
import type { Logger, ResolvedOptions } from '../options/types.ts'
import { canInheritSockets } from '../platform/windows-port.ts'
import { canHandOver } from '../platform/node-internals.ts'
import { type Release, resolveRelease } from '../releases/release.ts'
import type { ClusteredServer, LingerEndReason, WorkerName } from '../server-types.ts'

/** Minimum milliseconds between two log lines about lost connections. */
const LOST_INTERVAL = 1000

/** Maximum milliseconds for workers to end after `drainTimeout`. */
const END_MS = 7000

/** Logs the events of a server. */
export function logEvents(server: ClusteredServer, logger: Logger): void {
  logServer(server, logger)
  logWorkers(server, logger)
  logReloads(server, logger)
  logLingering(server, logger)
  logLostConnections(server, logger)
}

function logServer(server: ClusteredServer, logger: Logger): void {
  server.on('ready', () => {
    const { host, port, path, admin } = server
    const { length } = server.status().workers.filter(({ state }) => state === 'active')
    const processes = length === 0 ? 'one process' : counted(length, 'worker')
    const where = path ?? `${host}, port ${port}`
    logger.info({ host, port, path, workers: length, admin }, `listening on ${where}: ${processes}`)
  })
  server.on('closing', () => logger.info({}, 'closing'))
  server.on('closed', () => logger.info({}, 'closed'))
}

function logWorkers(server: ClusteredServer, logger: Logger): void {
  server.on('workerStart', (worker) => logger.info(about(worker), `worker ${worker.id} started`))
  server.on('workerReady', (worker) => logger.info(about(worker), `worker ${worker.id} accepts connections`))
  const failedStarts = failedStartsOf(server)
  server.on('workerExit', ({ code, signal, expected, failure, ...worker }) => {
    const text = signal ? `by ${signal}` : `with code ${code}`
    const reason = failure === undefined ? '' : `: ${reasonIn(failure)}`
    if (expected || failedStarts.has(worker.id))
      logger.info({ ...about(worker), code, signal }, `worker ${worker.id} ended ${text}`)
    else
      logger.error(
        { ...about(worker), code, signal, failure },
        `worker ${worker.id} ended unexpectedly ${text}${reason}`,
      )
  })
  server.on('workerBlocked', (worker) =>
    logger.error(about(worker), `the event loop of worker ${worker.id} is blocked: killing the worker`),
  )
  server.on('blockedLoopReport', ({ file, at, failure, ...worker }) => {
    const text = failure ? `no report: ${failure}` : `${at}, see ${file}`
    logger.error({ ...about(worker), file, at, failure }, `worker ${worker.id} was blocked: ${text}`)
  })
  server.on('recycle', ({ reason, ...worker }) =>
    logger.info({ ...about(worker), reason }, `replacing worker ${worker.id}: its limit of ${reason} is reached`),
  )
  server.on('crashLoop', ({ deaths, workers }) =>
    logger.error({ deaths, workers }, `${deaths} workers in a row died early: none are started until a reload`),
  )
}

/** The failure of a start in one line. Before the error, the stack of a syntax error has its place and lines of code. */
function reasonIn(failure: string): string {
  const lines = failure.split('\n')
  return withPlaceIn(lines.find((text) => /^\w*Error\b/.test(text)) ?? lines[0]!, failure)
}

/** Workers of a reload that have not become ready: the event `reloadFailed` says why. */
function failedStartsOf(server: ClusteredServer): ReadonlySet<number> {
  const starting = new Set<number>()
  let isReloading = false
  server.on('reload', () => (isReloading = true))
  server.on('workerStart', ({ id }) => isReloading && starting.add(id))
  server.on('workerReady', ({ id }) => starting.delete(id))
  for (const event of ['reloaded', 'reloadFailed'] as const)
    server.on(event, () => {
      isReloading = false
      starting.clear()
    })
  return starting
}

function logReloads(server: ClusteredServer, logger: Logger): void {
  server.on('reload', ({ generation }) => logger.info({ generation }, `reload: starting generation ${generation}`))
  server.on('reloaded', ({ generation, ...release }) => {
    logger.info({ generation, ...release }, `reloaded: generation ${generation} is active, ${nameOf(release)}`)
  })
  server.on('reloadFailed', ({ generation, error }) =>
    logger.error({ err: error, generation }, error.message.split('\n', 1)[0]!),
  )
}

/** Why an older build is no longer served, in words. */
const LINGER_END: Readonly<Record<LingerEndReason, string>> = {
  time: 'its time is over',
  builds: 'newer builds take its place',
  reloadFailed: 'a reload has failed',
  died: 'its workers have died',
  closing: 'the server closes',
}

function logLingering(server: ClusteredServer, logger: Logger): void {
  server.on('lingerStart', ({ generation, ids, workers, since, until }) => {
    const time = `${Math.round((until - since) / 1000)} s, until ${new Date(until).toISOString()}`
    const text = `generation ${generation} lingers for ${time}: requests for its build ${ids.join(', ')} reach ${workers} of its workers`
    logger.info({ generation, ids, workers, since, until }, text)
  })
  server.on('lingerEnd', ({ generation, reason }) => {
    const level = reason === 'died' ? 'error' : 'info'
    logger[level]({ generation, reason }, `generation ${generation} no longer lingers: ${LINGER_END[reason]}`)
  })
}

/** Logs which path each reload resolves: a server that was started by another path than its link would never see new code. */
export function logRelease({ app, cwd }: ResolvedOptions, logger: Logger): void {
  const link = fileURLToPath(app)
  const release = resolveRelease({ app, cwd })
  const { path, version, revision } = release
  const text =
    link === path ? `each reload loads ${nameOf(release)}` : `each reload resolves ${link}, now ${nameOf(release)}`
  logger.info({ link, path, version, revision }, text)
}

function nameOf({ path, version, revision }: Pick<Release, 'path' | 'version' | 'revision'>): string {
  const parts = [path, version && `version ${version}`, revision && `revision ${revision}`]
  return parts.filter((part) => part !== undefined).join(', ')
}

/** At most one line per second: connections are lost by the hundred, and a line may need a descriptor too. */
function logLostConnections(server: ClusteredServer, logger: Logger): void {
  let loggedAt = -Infinity
  const log = ({ pid }: { readonly pid: number | undefined }): void => {
    if (performance.now() - loggedAt < LOST_INTERVAL) return
    loggedAt = performance.now()
    const text = `process ${pid} has no free file descriptor, connections are closed: raise its limit of open files`
    logger.error({ lostBy: pid }, text)
  }
  server.on('connectionLost', log)
  server.on('workerFull', log)
}

/** Maximum duration of a shutdown without `onShutdown`, in milliseconds. */
export function stopTimeoutOf({ shutdownDelay, drainTimeout }: ResolvedOptions): number {
  return shutdownDelay + drainTimeout + END_MS
}

/** In a container, logs how long a shutdown may take: `docker stop` kills after 10 seconds by default. */
export function logStopTimeout(server: ClusteredServer, options: ResolvedOptions, logger: Logger): void {
  if (process.pid !== 1) return
  const seconds = Math.ceil(stopTimeoutOf(options) / 1000)
  const text = `a shutdown may take ${seconds} s: allow that, as with docker stop --time ${seconds} or terminationGracePeriodSeconds: ${seconds}`
  server.once('ready', () => logger.info({ stopTimeout: seconds }, text))
}

function about({ id, pid, generation }: WorkerName): object {
  return { worker: id, workerPid: pid, generation }
}

/** Warns where connections cannot be handed over between workers. */
export function warnOfReloads(logger: Logger): void {
  const { version, platform } = process
  if (!canInheritSockets()) {
    const text = `On ${platform}, workers share the port by node:cluster: a reload closes connections after their last response`
    logger.warn({ platform }, text)
  } else if (!canHandOver()) {
    logger.warn({ version }, `Node ${version} lacks the internals of a handover: a reload closes connections`)
  }
}
