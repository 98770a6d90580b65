#!/usr/bin/env node
import { readFileSync, statSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import type { ClusterStatus } from '../types.ts'
import { createClusteredServer } from '../create-clustered-server.ts'
import { ClusteredServerError } from '../errors.ts'
import { findPrimary } from './find-primary.ts'
import { outliveOutputs } from '../platform/lost-outputs.ts'
import type { ClusteredServerOptions } from '../options/types.ts'
import { stderrLogger } from './stderr-logger.ts'

const EXIT = { done: 0, failed: 1, usage: 2 }

const HELP = `Usage: clustered-server <app> [options]
       clustered-server reload <pid> [--port <admin port>]
       clustered-server status --port <admin port> [--json]

<app> is a module whose default export is a function that returns an app of Fastify, Express, NestJS, Koa or Hono,
a server of node:http, node:https or node:http2, a request listener, or a plugin of Fastify.
The listener or the plugin may be the default export itself. A module without one listens on PORT by itself.

Options:
  --workers <count|auto>            how many processes answer (default: auto, as many as there are cores)
  --port <port|path>                the port, or the path of a UNIX socket (default: the environment's PORT, else 3000)
  --host <address>                  the IP address (default: the environment's HOST, else all addresses)
  --no-spare                        no worker in reserve
  --start-timeout <ms>              for a worker to load its app (default: 30000)
  --ready-path <path>               that has to respond with a status below 500 first, such as /ready (default: none)
  --drain-timeout <ms>              for requests of a worker that leaves to end (default: 20000)
  --heartbeat-timeout <ms|off>      for an event loop to stand still before it is killed (default: 1000)
  --blocked-loop-report <stack|profile> written before it is killed (default: none)
  --report-directory <path>         where (default: the working directory)
  --recycle-requests <count>        replaces a worker after so many requests (default: never)
  --recycle-rss <bytes>             with so much resident memory (default: never)
  --recycle-heap <bytes>            with so much of V8's heap in use (default: never)
  --recycle-age <ms>                after so long (default: never)
  --shutdown-delay <ms>             from not ready to no new connections, once told to end (default: 0)
  --admin-port <port>               answers /live, /ready, /status and /metrics (default: none)
  --admin-host <address>            where (default: 127.0.0.1)
  --agent-port <port>               answers agent checks of HAProxy (default: none)
  -h, --help                        this text
  -v, --version                     the version

reload sends SIGHUP to a primary, also by the pid of a worker; with --port it waits until the new workers have taken over or have failed to.
status and reload take --host too, for an admin port elsewhere than on 127.0.0.1.

Signals: SIGTERM and SIGINT end in good order, the second one at once; SIGHUP reloads; SIGTTIN and SIGTTOU
add and remove a worker; SIGUSR2 is ignored.

Exit code: 0 ended as asked, 1 failed, all workers died, or a second signal, 2 wrong usage.
`

/** What is wrong with the command line, in one line. */
class UsageError extends Error {}

const COMMON = { port: { type: 'string' }, host: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
const FLAGS = {
  ...COMMON,
  workers: { type: 'string' },
  spare: { type: 'boolean' },
  'start-timeout': { type: 'string' },
  'ready-path': { type: 'string' },
  'drain-timeout': { type: 'string' },
  'heartbeat-timeout': { type: 'string' },
  'blocked-loop-report': { type: 'string' },
  'report-directory': { type: 'string' },
  'recycle-requests': { type: 'string' },
  'recycle-rss': { type: 'string' },
  'recycle-heap': { type: 'string' },
  'recycle-age': { type: 'string' },
  'shutdown-delay': { type: 'string' },
  'admin-port': { type: 'string' },
  'admin-host': { type: 'string' },
  'agent-port': { type: 'string' },
  version: { type: 'boolean', short: 'v' },
} as const satisfies ParseArgsOptionsConfig

outliveOutputs()
try {
  const [command, ...rest] = process.argv.slice(2)
  if (command === 'reload') await reload(rest)
  else if (command === 'status') await showStatus(rest)
  else await serve(process.argv.slice(2))
} catch (error) {
  const code = isUsage(error) ? EXIT.usage : EXIT.failed
  process.exitCode = code
  // An app in this process may have opened what would keep it. One that was told to end ends by that.
  const isClosed = error instanceof ClusteredServerError && error.code === 'CLUSTERED_SERVER_CLOSED'
  process.stderr.write(`clustered-server: ${messageOf(error)}\n`, () => {
    if (!isClosed) process.exit(code)
  })
}

async function serve(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: FLAGS, allowPositionals: true, allowNegative: true })
  if (values.help) return print(HELP)
  if (values.version) return print(`${versionHere()}\n`)
  const [app, ...more] = positionals
  if (app === undefined || more.length > 0)
    throw new UsageError(`expected one app, got ${positionals.length}: see --help`)
  const path = resolve(app)
  demandFile(path)
  const { 'admin-port': adminPort, 'admin-host': adminHost, 'agent-port': agentPort } = values
  if (adminPort === undefined && (adminHost ?? agentPort) !== undefined)
    throw new UsageError('--admin-host and --agent-port need --admin-port')
  const heartbeat = values['heartbeat-timeout']
  await createClusteredServer(pathToFileURL(path), {
    ...given({
      workers: number(values.workers),
      port: number(values.port),
      host: values.host,
      spare: values.spare,
      startTimeout: number(values['start-timeout']),
      readyPath: values['ready-path'],
      drainTimeout: number(values['drain-timeout']),
      heartbeatTimeout: heartbeat === 'off' ? false : number(heartbeat),
      blockedLoopReport: values['blocked-loop-report'],
      reportDirectory: values['report-directory'],
      recycle: given({
        requests: number(values['recycle-requests']),
        rss: number(values['recycle-rss']),
        heap: number(values['recycle-heap']),
        age: number(values['recycle-age']),
      }),
      shutdownDelay: number(values['shutdown-delay']),
      admin: adminPort && given({ port: number(adminPort), host: adminHost, agentPort: number(agentPort) }),
    }),
    logger: stderrLogger(),
  })
}

async function reload(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: COMMON, allowPositionals: true })
  if (values.help) return print(HELP)
  const [text, ...more] = positionals
  if (!/^[1-9]\d*$/.test(text ?? '') || more.length > 0)
    throw new UsageError(`expected the process id of a clustered-server, got ${positionals.join(' ') || 'none'}`)
  const pid = findPrimary(Number(text))
  const before = values.port === undefined ? undefined : await fetchStatus(values)
  if (before && before.pid !== pid) throw new Error(`the admin port is that of process ${before.pid}, not of ${pid}`)
  try {
    process.kill(pid, 'SIGHUP')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`cannot signal process ${pid}: ${code}`, { cause: error })
  }
  if (!before) return print(`sent SIGHUP to ${pid}\n`)
  for (;;) {
    await sleep(100)
    const now = await fetchStatus(values)
    if (now.failedReloads > before.failedReloads) throw new Error(now.reloadError?.split('\n', 1)[0])
    if (now.reloads > before.reloads) return print(`${pid} runs generation ${now.generation}\n`)
  }
}

async function showStatus(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { ...COMMON, json: { type: 'boolean' } } })
  if (values.help) return print(HELP)
  const status = await fetchStatus(values)
  print(values.json ? `${JSON.stringify(status)}\n` : tableOf(status))
}

interface Status extends ClusterStatus {
  readonly pid: number
  readonly reloads: number
  readonly failedReloads: number
  readonly reloadError?: string
}

async function fetchStatus({ host = '127.0.0.1', port }: { host?: string; port?: string }): Promise<Status> {
  if (port === undefined) throw new UsageError('expected --port: that of the option --admin-port')
  const url = `http://${isIPv6(host) ? `[${host}]` : host}:${port}/status`
  if (!URL.canParse(url)) throw new UsageError(`expected a port and a host, got ${port} and ${host}`)
  try {
    const response = await fetch(url)
    const status: unknown = await response.json().catch(() => undefined)
    if (isStatus(status)) return status
    throw new Error(`it responded ${response.status}, and is no admin port: see --admin-port`)
  } catch (error) {
    const { cause, message } = error as Error
    const why = (cause as Error | undefined)?.message ?? message
    throw new Error(`no clustered-server responds at ${url}: ${why}`, { cause: error })
  }
}

function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'pid' in value && 'workers' in value && 'generation' in value
}

function tableOf({ pid, ready, generation, workers, reloads, failedReloads }: Status): string {
  const head = `${pid}: ${ready ? 'ready' : 'not ready'}, generation ${generation}, ${reloads} reloads, ${failedReloads} failed\n`
  if (workers.length === 0) return head
  const rows = workers.map((worker) => [
    String(worker.id),
    String(worker.pid),
    worker.state,
    String(worker.generation),
    `${Math.round((Date.now() - worker.startedAt) / 1000)} s`,
    String(worker.connections),
    `${Math.round(worker.rss / 2 ** 20)} MiB`,
    `${Math.round(worker.utilization * 100)} %`,
  ])
  const table = [['worker', 'pid', 'state', 'generation', 'age', 'connections', 'rss', 'busy'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const lines = table.map((row) => row.map((cell, column) => cell.padStart(widths[column]!)).join('  '))
  return `${head}${lines.join('\n')}\n`
}

/** A number if it is one: what is none is told so by the option that it is for. */
function number(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text
}

/** The options that were given: `createClusteredServer()` looks at what they are. */
function given(options: Record<string, unknown>): ClusteredServerOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function demandFile(path: string): void {
  try {
    statSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new UsageError(`there is no file ${path}`)
    throw new UsageError(`cannot read ${path}: ${code}`)
  }
}

function versionHere(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}

function print(text: string): void {
  process.stdout.write(text, (error) => {
    // Whoever has closed the pipe has read enough, as `head` has.
    if (!error || (error as NodeJS.ErrnoException).code === 'EPIPE') return
    process.stderr.write(`clustered-server: cannot write to stdout: ${error.message}\n`)
    process.exitCode = EXIT.failed
  })
}

function isUsage(error: unknown): boolean {
  if (error instanceof UsageError) return true
  if (error instanceof ClusteredServerError) return error.code === 'CLUSTERED_SERVER_INVALID_OPTION'
  return error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS_')
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Options have other names here; those of the environment are as they are.
  return error.message.replaceAll(/`([a-z][\w.]*)`/g, (_, name: string) => {
    const flag = name === 'admin.agentPort' ? 'agentPort' : name.replace('.', '-')
    return `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  })
}
