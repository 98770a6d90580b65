import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { errorCodes } from '../errors.ts'

/**
 * Imports a package as the app's module would.
 *
 * @param what describes the app that needs the package
 * @throws CLUSTERED_SERVER_INVALID_APP when it is not installed
 */
export async function importFrom(url: string, name: string, what: string): Promise<unknown> {
  return import(pathToFileURL(resolveFrom(url, name, what)).href)
}

function resolveFrom(url: string, name: string, what: string): string {
  try {
    return createRequire(url).resolve(name)
  } catch (error) {
    const text = `${url} exports ${what}, which needs ${name} beside it: npm install ${name}`
    throw new errorCodes.CLUSTERED_SERVER_INVALID_APP(text, { cause: error })
  }
}
