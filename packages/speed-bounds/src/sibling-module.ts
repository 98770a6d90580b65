import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path of a module that runs in its own process: `.ts` in the sources, `.js` in the build. */
export function siblingModule(module: string, importer: string): string {
  return fileURLToPath(new URL(module + extname(importer), importer))
}
