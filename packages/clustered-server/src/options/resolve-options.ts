import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { checkOptions, invalidOption } from 'checked-options'
import { hasControlSockets } from '../control/runtime-directory.ts'
import { type ClusteredServerError, errorCodes } from '../errors.ts'
import { availableCores } from '../platform/available-cores.ts'
import { ReleaseLinks } from '../releases/release-links.ts'
import { schema, workers as workersKind } from './schema.ts'
import type { CheckedOptions, ClusteredServerOptions, Logger, ResolvedOptions } from './types.ts'

/** @throws CLUSTERED_SERVER_INVALID_OPTION */
export function resolveOptions(app: URL | string, options: ClusteredServerOptions): ResolvedOptions {
  const url = moduleUrl(app)
  const path = fileURLToPath(url)
  const links = new ReleaseLinks(path)
  const checked = checkOptions(schema, options, fail)
  const { workers, port, heartbeatTimeout, blockedLoopReport, reportDirectory, logger } = checked
  if (checked.sticky !== undefined && typeof port === 'string')
    throw fail(invalidOption('sticky', 'no value, because clients of a UNIX socket have no address', checked.sticky))
  if (checked.linger !== undefined && !hasControlSockets)
    throw fail(invalidOption('linger', 'no value on Windows, which has no private UNIX sockets', checked.linger))
  return {
    ...checked,
    app: Object.assign(pathToFileURL(links.through(path)), { search: url.search, hash: url.hash }).href,
    cwd: workingDirectory(links),
    name: checked.name,
    pidFile: checked.pidFile === undefined ? undefined : resolve(checked.pidFile),
    workers: workers === 'auto' ? availableCores() : workers,
    ...(typeof port === 'string' ? { port: 0, path: port } : { port, path: undefined }),
    host: checked.host,
    sticky: checked.sticky === 'address',
    readyPath: checked.readyPath,
    heartbeatTimeout: heartbeatTimeout === false ? Infinity : heartbeatTimeout,
    blockedLoopReport: blockedLoopReport && {
      kind: blockedLoopReport,
      directory: links.through(resolve(reportDirectory ?? '')),
    },
    recycle: checked.recycle ?? {},
    linger: checked.linger,
    args: checked.args,
    env: checked.env ?? {},
    execArgv: checked.execArgv ?? withoutScript(process.execArgv),
    admin: resolveAdmin(checked.admin),
    logger: logger && withoutErrors(logger),
    onShutdown: checked.onShutdown ?? (() => {}),
  }
}

/** @throws CLUSTERED_SERVER_INVALID_OPTION */
export function assertWorkers(value: unknown): void {
  checkOptions(workersKind, value, (message) => fail(message.replace('Invalid options:', 'Invalid option "workers":')))
}

function fail(message: string): ClusteredServerError {
  return new errorCodes.CLUSTERED_SERVER_INVALID_OPTION(message)
}

function moduleUrl(app: unknown): URL {
  const url = typeof app === 'string' ? (isAbsolute(app) ? pathToFileURL(app) : URL.parse(app)) : app
  if (url instanceof URL && isFile(url)) return url
  const shown = app instanceof URL ? app.href : app
  const expected = 'an absolute path or a file URL, such as new URL("./app.js", import.meta.url)'
  throw fail(invalidOption('app', expected, shown))
}

/** Whether a URL is that of a path on this system: without a host, for example. */
function isFile(url: URL): boolean {
  try {
    return fileURLToPath(url) !== ''
  } catch {
    return false
  }
}

function workingDirectory(links: ReleaseLinks): string | undefined {
  try {
    return links.through(process.cwd())
  } catch {
    return undefined
  }
}

function resolveAdmin(admin: CheckedOptions['admin']): ResolvedOptions['admin'] {
  return admin && { port: admin.port, host: admin.host, agentPort: admin.agentPort }
}

/** Node arguments that say which script to run. A worker with these would start workers itself. */
const SCRIPT = /^(?:-p?e|-p|--eval|--print|--input-type)$/

function withoutScript(execArgv: readonly string[]): string[] {
  return execArgv.filter((text, index) => {
    const [name = ''] = text.split('=')
    return !SCRIPT.test(name) && !SCRIPT.test(execArgv[index - 1] ?? '')
  })
}

/** Ignores errors of a logger: a full disk must not stop the server. */
function withoutErrors(own: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (about: object, message: string): void => {
      try {
        own[level](about, message)
      } catch {}
    }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}
