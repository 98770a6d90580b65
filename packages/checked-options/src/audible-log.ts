import { inspect } from 'node:util'

/** The methods of a logger that an operator must not miss. */
interface Faults {
  warn(details: object | string, message?: string): void
  error(details: object | string, message?: string): void
}

/**
 * The logger of an app. Fastify's is silent by default: in its place, warnings and errors are warnings of the process, so that
 * no feature goes off silently. A logger with the level `silent` stays silent.
 *
 * @param name - the type of the warnings, such as `NextOnFastifyWarning`
 *
 * @example
 * audibleLog(app.log, 'MyPluginWarning').warn('the cache is off: …')
 */
export function audibleLog<Log extends Faults>(log: Log, name: string): Log {
  // The methods of a logger that was never configured are one function without effect, and it has no level.
  if ('level' in log || log.warn !== log.error) return log
  const warn: Faults['warn'] = (details, message = '') => {
    if (typeof details === 'string') return process.emitWarning(details, name)
    const { err, ...others } = details as { err?: Error }
    const cause = err?.message
    const text = cause === undefined || message.includes(cause) ? message : `${message} (${cause})`
    const detail = Object.keys(others).length === 0 ? {} : { detail: inspect(others, { breakLength: Infinity }) }
    process.emitWarning(text, { type: name, ...detail })
  }
  return Object.assign(Object.create(log) as Log, { warn, error: warn })
}
