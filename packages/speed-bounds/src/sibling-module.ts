import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path of a module of this package that runs as a process of its own: `.ts` in the sources, `.js` in the build. */
export function besideThis(module: string, importer: string): string {
  return fileURLToPath(new URL(module + extname(importer), importer))
}
