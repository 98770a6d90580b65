import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errorCodes } from '../errors.ts'

/** Exports of an app's module. */
export interface AppModule {
  readonly default?: unknown
  readonly warmUp?: unknown
  readonly metrics?: unknown
  readonly options?: unknown
  /** Names of all exports but the default one. */
  readonly names?: readonly string[]
}

/**
 * Imports an app's module. Unwraps the nested default export of CommonJS compiled by TypeScript or Babel.
 *
 * @throws CLUSTERED_SERVER_INVALID_APP when there is no such file; the error of the module itself
 */
export async function importApp(url: string): Promise<AppModule> {
  const outer = await importFile(url)
  let inner = outer
  while (isNested(inner.default)) inner = inner.default
  const { default: app } = inner
  const { warmUp, metrics, options } = { ...inner, ...outer }
  const names = Object.keys(outer).filter((name) => name !== 'default' && name !== 'module.exports')
  return { default: app, warmUp, metrics, options, names }
}

async function importFile(url: string): Promise<AppModule> {
  try {
    return (await import(url)) as AppModule
  } catch (cause) {
    // Asked only now: a loader may find a module where there is no file.
    const path = fileURLToPath(url)
    const kind = kindOf(path)
    if (kind === 'file') throw cause
    const found = kind === 'directory' ? `${path} is a directory` : `there is no file ${path}`
    const text = `Expected the app to be the file of a module, but ${found}: correct the path`
    throw new errorCodes.CLUSTERED_SERVER_INVALID_APP(text, { cause })
  }
}

function kindOf(path: string): 'file' | 'directory' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats && (stats.isDirectory() ? 'directory' : 'file')
  } catch {
    // Node's own message says why it cannot be read.
    return 'file'
  }
}

/** Whether a default export is another module, which compilers mark, and not the app. */
function isNested(value: unknown): value is AppModule {
  if (typeof value !== 'object' || value === null) return false
  return '__esModule' in value || Object.prototype.toString.call(value) === '[object Module]'
}
