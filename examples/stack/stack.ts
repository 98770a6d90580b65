// Starts everything until Ctrl-C: three services, Redis if it is installed, a receiver of traces, the build and the server.

import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, firstEnd, runToEnd, type StartedServer, startServer, stopAll } from '../processes.ts'
import { hashPassword } from './services/passwords.ts'
import { startRedis } from './services/redis.ts'

const startedAt = performance.now()
const host = process.env['HOST'] ?? '127.0.0.1'
/** Sockets, logs and caches of this start. */
const folder = await mkdtemp(join(tmpdir(), 'stack-'))
const logFile = join(folder, 'server.log')
const log = createWriteStream(logFile)

let isStopped = false
let redis: Awaited<ReturnType<typeof startRedis>>
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    isStopped = true
    void stopAll()
  })
}

try {
  await run()
} catch (error) {
  if (!isStopped) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
} finally {
  await stopAll()
  redis?.child.kill()
  await rm(folder, { recursive: true, force: true })
}

async function run(): Promise<void> {
  const users = [newUser('ada', 'Ada Lovelace'), newUser('grace', 'Grace Hopper')]
  const accounts = await Promise.all(
    users.map(async ({ password, ...user }) => ({ ...user, passwordHash: await hashPassword(password) })),
  )
  redis = await startRedis(folder)
  const [accountsUrl, ordersUrl, catalogUrl, tracesUrl] = await Promise.all([
    startService('accounts', { ACCOUNTS: JSON.stringify(accounts) }),
    startService('orders'),
    startService('catalog'),
    startService('traces'),
  ])
  const services = { ACCOUNTS_URL: accountsUrl, ORDERS_URL: ordersUrl, CATALOG_URL: catalogUrl }
  console.log('Building the Next app, unless it is built already.')
  if ((await runToEnd(file('build.ts'), services)) !== 0) throw new Error('The build of the Next app has failed.')

  const { pid, server, admin } = await start('server.ts', {
    ...services,
    NODE_ENV: 'production',
    HOST: host,
    PORT: process.env['PORT'] ?? '0',
    ADMIN_PORT: process.env['ADMIN_PORT'] ?? '0',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${tracesUrl}/v1/traces`,
    CACHE_FOLDER: join(folder, 'pages'),
    ...(redis && { REDIS_URL: redis.url }),
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  console.log(`
The stack is up after ${seconds} s.

  app        http://${host}:${server}
  metrics    http://${host}:${admin}/metrics
  traces     ${tracesUrl}
  log        ${logFile}
  cache      ${redis ? 'Redis, for pages, lists of the gateway and rate limits' : 'files of this machine, as Redis is not installed'}
${users.map(({ name, password }) => `  sign in    ${name} ${password}`).join('\n')}

Reload the server under load by "kill -HUP ${pid}". Ctrl-C stops everything.`)
  const code = await firstEnd()
  if (!isStopped) throw new Error(`A process has ended with code ${code}.`)
}

/** With a new password for each start. */
function newUser(name: string, fullName: string): { name: string; fullName: string; password: string } {
  return { name, fullName, password: randomBytes(9).toString('base64url') }
}

async function startService(name: string, env: Environment = {}): Promise<string> {
  const { server } = await start(`services/${name}.ts`, {
    HOST: '127.0.0.1',
    PORT: '0',
    NODE_ENV: 'production',
    ...env,
  })
  return `http://127.0.0.1:${server}`
}

async function start(name: string, env: Environment): Promise<StartedServer> {
  if (isStopped) throw new Error('Stopped during the start.')
  const started = await startServer(file(name), env, log)
  if (!started) throw new Error(`${name} has ended before it listened.`)
  return started
}

function file(name: string): URL {
  return new URL(name, import.meta.url)
}
