import type { ClusteredServer, WorkerName } from '../types.ts'
import { canInheritSockets } from '../platform/node-cluster.ts'
import { canHandOver } from '../platform/node-internals.ts'
import type { Logger } from '../options/options.ts'

/** Milliseconds for which connections that are lost are told of once. */
const TELL_AGAIN = 1000

/** Logs what happens, with the worker that it happens to. */
export function logEvents(server: ClusteredServer, logger: Logger): void {
  const about = ({ id, pid, generation }: WorkerName): object => ({ worker: id, workerPid: pid, generation })
  server.on('ready', () => {
    const { host, port, path, admin } = server
    const { length } = server.status().workers.filter(({ state }) => state === 'active')
    const who = length === 0 ? 'this process' : `${length} workers`
    const where = path ?? `${host}, port ${port}`
    logger.info({ host, port, path, workers: length, admin }, `listening on ${where}: ${who}`)
  })
  server.on('workerStart', (worker) => logger.info(about(worker), `worker ${worker.id} started`))
  server.on('workerReady', (worker) => logger.info(about(worker), `worker ${worker.id} takes connections`))
  server.on('workerExit', ({ code, signal, expected, failure, ...worker }) => {
    const text = `worker ${worker.id} has ended ${signal ? `by ${signal}` : `with code ${code}`}`
    const why = failure === undefined ? '' : `: ${failure.split('\n', 1)[0]}`
    if (expected) logger.info({ ...about(worker), code, signal }, text)
    else logger.error({ ...about(worker), code, signal, failure }, `${text}, and was not told to${why}`)
  })
  server.on('workerStuck', (worker) =>
    logger.error(about(worker), `worker ${worker.id} is stuck: its event loop stands still, it is killed`),
  )
  server.on('stuckReport', ({ file, at, failure, ...worker }) => {
    const text = failure ? `where nobody knows: ${failure}` : `at ${at}, see ${file}`
    logger.error({ ...about(worker), file, at, failure }, `worker ${worker.id} was stuck ${text}`)
  })
  server.on('recycle', ({ reason, ...worker }) =>
    logger.info({ ...about(worker), reason }, `worker ${worker.id} is replaced for its ${reason}`),
  )
  server.on('crashLoop', ({ deaths, workers }) =>
    logger.error({ deaths, workers }, `${deaths} workers in a row died soon: none are started until a reload`),
  )
  server.on('reload', ({ generation }) => logger.info({ generation }, `reload: starts generation ${generation}`))
  server.on('reloaded', ({ generation }) => logger.info({ generation }, `reloaded: generation ${generation} is there`))
  server.on('reloadFailed', ({ generation, error }) =>
    logger.error({ err: error, generation }, error.message.split('\n', 1)[0]!),
  )
  // They come by the hundred, and each line may need a descriptor too.
  let toldAt = -Infinity
  server.on('connectionLost', ({ pid }) => {
    if (performance.now() - toldAt < TELL_AGAIN) return
    toldAt = performance.now()
    logger.error(
      { lostBy: pid },
      `process ${pid} has no descriptor left, connections are closed: raise its limit of open files`,
    )
  })
  server.on('hookFailed', ({ hook, error }) => logger.error({ err: error, hook }, `${hook} failed, the server goes on`))
  server.on('closing', () => logger.info({}, 'closing'))
  server.on('closed', () => logger.info({}, 'closed'))
}

/** Says why connections do not go from one worker to the other, where they do not. */
export function warnOfReloads(logger: Logger): void {
  const { version, platform } = process
  if (!canInheritSockets()) {
    const text = `On ${platform} workers share the port by node:cluster: a reload closes connections with their last answer`
    logger.warn({ platform }, text)
  } else if (!canHandOver()) {
    logger.warn({ version }, `Node ${version} lacks what connections are handed over by: a reload closes them`)
  }
}
