import { existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { MergedReloads } from '../../control/merged-reloads.ts'
import { errorCodes } from '../../errors.ts'
import type { Logger } from '../../options/types.ts'
import type { ClusteredServer } from '../../server-types.ts'
import { UsageError } from '../usage-error.ts'
import { FileWatch } from './watch-files.ts'
import { outDirIn, type WatchedFiles } from './watched-paths.ts'

/** What `--watch` and its companions say. */
export interface WatchRequest {
  /** Empty for the code in the working directory. */
  readonly paths: readonly string[]
  readonly ignore: readonly string[]
}

/**
 * The files that a request means, for an app that starts in the working directory.
 *
 * @throws UsageError for a path that does not exist
 */
export function watchedFiles({ paths, ignore }: WatchRequest, app: string, envFiles: readonly string[]): WatchedFiles {
  const missing = paths.find((path) => !existsSync(path))
  if (missing !== undefined) throw new UsageError(`cannot watch ${missing}: there is no such file or directory`)
  const root = resolve('')
  const output = outputOf(root)
  const isBuilt = output !== undefined && app.startsWith(join(root, output, '/'))
  return {
    root,
    paths: paths.length === 0 ? [root] : paths.map((path) => resolve(path)),
    ignore: output === undefined || isBuilt ? ignore : [...ignore, output],
    allFiles: paths.length > 0,
    always: envFiles,
  }
}

/** Reloads a server whenever files change. A version that does not start is logged by the server. */
export function watchApp(server: ClusteredServer, watched: WatchedFiles, logger: Logger): void {
  const shown = (path: string): string => relative(watched.root, path) || '.'
  const reloads = new MergedReloads(() => server.reload())
  const onChange = ([first = '', ...more]: readonly string[]): void => {
    logger.info({}, `changed: ${shown(first)}${more.length > 0 ? ` and ${more.length} more` : ''}`)
    reloads.run().catch((error: unknown) => {
      if (error instanceof errorCodes.CLUSTERED_SERVER_RELOAD_FAILED) return
      if (error instanceof errorCodes.CLUSTERED_SERVER_CLOSED) return
      logger.error({ err: error }, `reload failed: ${(error as Error).message}`)
    })
  }
  let hasFailed = false
  const files = new FileWatch(watched, onChange, (error) => {
    if (!hasFailed) logger.error({ err: error }, `cannot watch all files: ${error.message}`)
    hasFailed = true
  })
  server.once('closing', () => files.close())
  const paths = watched.paths.map((path) => shown(path)).join(', ')
  logger.warn({}, `watching ${paths} for changes, which is for development only`)
}

/** The directory that TypeScript builds to, relative to the project. */
function outputOf(root: string): string | undefined {
  try {
    const output = outDirIn(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
    return output === undefined ? undefined : relative(root, resolve(root, output)) || undefined
  } catch {
    return undefined
  }
}
