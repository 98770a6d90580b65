import { existsSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { DEFAULT_PORT } from '../../options/schema.ts'
import { startServer } from '../../server/start-server.ts'
import { parseCommandLine } from '../command-line.ts'
import { startSettings, type WatchFlags } from '../config/start-settings.ts'
import { commandFlags, type CommandValues, flags, parseArgsOf, toOptions } from '../flags.ts'
import { helpText } from '../help.ts'
import { print } from '../print.ts'
import { stderrLogger } from '../stderr-logger.ts'
import { startAdvice } from '../unknown-flags.ts'
import { UsageError } from '../usage-error.ts'
import { watchApp } from '../watch/watch-app.ts'

/** `clustered-server start`: runs an app in the foreground. */
export async function start(all: readonly string[]): Promise<void> {
  const end = all.indexOf('--')
  const [args, appArgs] = end === -1 ? [all, []] : [all.slice(0, end), all.slice(end + 1)]
  const { values, positionals } = parseCommandLine(withJoinedNodeArgs(args), {
    command: 'clustered-server',
    options: { ...parseArgsOf([...flags, ...commandFlags]), version: { type: 'boolean', short: 'v' } },
    advice: startAdvice,
  })
  if (values['help']) return print(helpText())
  if (values['version']) return print(`${ownVersion()}\n`)
  const [name = ''] = positionals
  if (/^[a-z]+$/.test(name) && !existsSync(name))
    throw new UsageError(`there is neither a command nor a file ${name}: see --help`)
  if (positionals.length > 1) throw new UsageError(`expected one app, got ${positionals.length}: see --help`)
  const { config, only, env, 'env-file': envFiles = [] } = values as CommandValues
  const given = { positional: positionals[0], config, only, env, envFiles, options: toOptions(values), args: appArgs }
  const { app, options, warnings, watch } = await startSettings({ ...given, watch: watchFrom(values) })
  const logger = options.logger ?? stderrLogger()
  for (const warning of warnings) logger.warn({}, warning)
  // Workers get the port of the server. An app in this process reads it after its start, too.
  process.env['PORT'] = String(options.port ?? DEFAULT_PORT)
  if (watch === undefined) await startServer(pathToFileURL(app), { ...options, logger })
  else {
    // One worker reloads fastest.
    const development = { workers: 1, standby: false, ...options, logger }
    watchApp(await startServer(pathToFileURL(app), development, false), watch, logger)
  }
}

function watchFrom({ watch, 'watch-path': paths = [], 'watch-ignore': ignore = [] }: CommandValues): WatchFlags {
  if (watch === false) return false
  if (watch === undefined && paths.length === 0) {
    if (ignore.length > 0) throw new UsageError('--watch-ignore needs --watch')
    return undefined
  }
  return { paths, ignore }
}

/** Joins `--node-args` and its value, which begins with a hyphen. */
function withJoinedNodeArgs(args: readonly string[]): string[] {
  const index = args.indexOf('--node-args')
  if (index === -1 || args[index + 1] === undefined) return [...args]
  return [...args.slice(0, index), `--node-args=${args[index + 1]}`, ...args.slice(index + 2)]
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
