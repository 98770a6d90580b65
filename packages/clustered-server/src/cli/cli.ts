#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { createClusteredServer } from '../create-clustered-server.ts'
import { errorCodes } from '../errors.ts'
import { outliveOutputs } from '../platform/lost-outputs.ts'
import { findPrimary } from './find-primary.ts'
import { type CommandValues, parseArgsOptions, toOptions, withFlagNames } from './flags.ts'
import { helpText } from './help.ts'
import { initFile } from './init.ts'
import { startSettings } from './config/start-settings.ts'
import { stderrLogger } from './stderr-logger.ts'
import { type AdminFlags, fetchStatus, statusTable } from './status.ts'
import { UsageError } from './usage-error.ts'

const EXIT = { done: 0, failed: 1, usage: 2 }
/** Milliseconds between two requests for the status during a reload. */
const POLL_MS = 100
const ADMIN_FLAGS = {
  'admin-port': { type: 'string' },
  'admin-host': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  // Old names, for a clear error.
  port: { type: 'string' },
  host: { type: 'string' },
} as const

outliveOutputs()
try {
  const [command, ...rest] = process.argv.slice(2)
  if (command === 'reload') await reload(rest)
  else if (command === 'status') await showStatus(rest)
  else if (command === 'init') printFile(rest)
  else await serve(process.argv.slice(2))
} catch (error) {
  const code = isUsage(error) ? EXIT.usage : EXIT.failed
  process.exitCode = code
  // A server that is closed during its start ends by the signal. Otherwise open handles of an app could keep this process.
  const isClosed = error instanceof errorCodes.CLUSTERED_SERVER_CLOSED
  process.stderr.write(`clustered-server: ${messageOf(error)}\n`, () => {
    if (!isClosed) process.exit(code)
  })
}

async function serve(all: string[]): Promise<void> {
  const end = all.indexOf('--')
  const [args, appArgs] = end === -1 ? [all, []] : [all.slice(0, end), all.slice(end + 1)]
  for (const flag of ['--spare', '--no-spare'])
    if (args.includes(flag)) throw new UsageError(`${flag} was renamed to ${flag.replace('spare', 'standby')}`)
  const { values, positionals } = parseArgs({
    args: withJoinedNodeArgs(args),
    options: parseArgsOptions,
    allowPositionals: true,
    allowNegative: true,
  })
  if (values['help']) return print(helpText())
  if (values['version']) return print(`${ownVersion()}\n`)
  if (positionals.length > 1) throw new UsageError(`expected one app, got ${positionals.length}: see --help`)
  const { config, only, env, 'env-file': envFiles = [] } = values as CommandValues
  const given = { positional: positionals[0], config, only, env, envFiles, options: toOptions(values), args: appArgs }
  const { app, options, warnings } = await startSettings(given)
  const logger = options.logger ?? stderrLogger()
  for (const warning of warnings) logger.warn({}, warning)
  await createClusteredServer(pathToFileURL(app), { ...options, logger })
}

/** Joins `--node-args` and its value, which begins with a hyphen. */
function withJoinedNodeArgs(args: readonly string[]): string[] {
  const index = args.indexOf('--node-args')
  if (index === -1 || args[index + 1] === undefined) return [...args]
  return [...args.slice(0, index), `--node-args=${args[index + 1]}`, ...args.slice(index + 2)]
}

async function reload(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: ADMIN_FLAGS, allowPositionals: true })
  if (values.help) return print(helpText())
  assertCurrentNames(values)
  const [text, ...more] = positionals
  if (!/^[1-9]\d*$/.test(text ?? '') || more.length > 0)
    throw new UsageError(`expected the process id of a clustered-server, got ${positionals.join(' ') || 'none'}`)
  const pid = findPrimary(Number(text))
  const before = values['admin-port'] === undefined ? undefined : await fetchStatus(values)
  if (before && before.pid !== pid) throw new Error(`the admin port belongs to process ${before.pid}, not to ${pid}`)
  try {
    process.kill(pid, 'SIGHUP')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`cannot signal process ${pid}: ${code}`, { cause: error })
  }
  if (!before) return print(`sent SIGHUP to ${pid}\n`)
  for (;;) {
    await sleep(POLL_MS)
    const now = await fetchStatus(values)
    if (now.failedReloads > before.failedReloads) throw new Error(now.reloadError?.split('\n', 1)[0])
    if (now.reloads > before.reloads) return print(`${pid} runs generation ${now.generation}\n`)
  }
}

function printFile(args: string[]): void {
  const options = { name: { type: 'string' }, port: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  print(values.help ? helpText() : initFile(positionals, values))
}

async function showStatus(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { ...ADMIN_FLAGS, json: { type: 'boolean' } } })
  if (values.help) return print(helpText())
  assertCurrentNames(values)
  const status = await fetchStatus(values)
  print(values.json ? `${JSON.stringify(status)}\n` : statusTable(status))
}

function assertCurrentNames({ port, host }: AdminFlags & { port?: string; host?: string }): void {
  if (port !== undefined) throw new UsageError('--port was renamed to --admin-port')
  if (host !== undefined) throw new UsageError('--host was renamed to --admin-host')
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}

function print(text: string): void {
  process.stdout.write(text, (error) => {
    // A reader such as `head` may close the pipe early.
    if (!error || (error as NodeJS.ErrnoException).code === 'EPIPE') return
    process.stderr.write(`clustered-server: cannot write to stdout: ${error.message}\n`)
    process.exitCode = EXIT.failed
  })
}

function isUsage(error: unknown): boolean {
  if (error instanceof UsageError || error instanceof errorCodes.CLUSTERED_SERVER_INVALID_OPTION) return true
  return error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS_')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? withFlagNames(error.message) : String(error)
}
