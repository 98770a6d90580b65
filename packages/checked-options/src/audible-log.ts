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
  const warn: Faults['warn'] = (details, message) => {
    const text = typeof details === 'string' ? details : (message ?? '')
    const cause = typeof details === 'string' ? undefined : (details as { err?: Error }).err?.message
    process.emitWarning(cause === undefined || text.includes(cause) ? text : `${text} (${cause})`, name)
  }
  return Object.assign(Object.create(log) as Log, { warn, error: warn })
}
