/** Settings of the server, from its environment. */
export const settings = {
  accountsUrl: required('ACCOUNTS_URL'),
  ordersUrl: required('ORDERS_URL'),
  catalogUrl: required('CATALOG_URL'),
  /** Signs the cookies of sessions. The primary makes one for all workers. */
  sessionSecret: secret('SESSION_SECRET'),
  /** URL or path of the socket of Redis; without it, caches and rate limits belong to this machine. */
  redisUrl: process.env['REDIS_URL'],
  /** Folder of the cache of pages, if there is no Redis. */
  cacheFolder: process.env['CACHE_FOLDER'],
  /** Requests per minute of each client. */
  rateLimit: count('RATE_LIMIT', 600),
  /** Addresses of proxies whose `x-forwarded-*` headers are right, such as `10.0.0.0/8`. */
  trustedProxies: process.env['TRUSTED_PROXIES'],
  tracesUrl: process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
  logLevel: process.env['LOG_LEVEL'] ?? 'info',
} as const

function required(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`Expected ${name} in the environment, see README.md.`)
  return value
}

/** Who guesses it can sign a session of any user. */
function secret(name: string): string {
  const value = required(name)
  if (value.length >= 32) return value
  throw new Error(
    `Expected at least 32 characters in ${name}, got ${value.length}. \`openssl rand -base64 32\` prints some.`,
  )
}

/** The plugin of rate limits ignores a number that is none, and applies a limit of its own. */
function count(name: string, standard: number): number {
  const value = process.env[name] ?? String(standard)
  if (/^[1-9]\d*$/.test(value)) return Number(value)
  throw new Error(`Expected a positive integer in ${name}, got ${JSON.stringify(value)}.`)
}
