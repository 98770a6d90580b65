import type { default as nextModule } from 'next'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { web } from './app-folder.ts'

/** Where the built app is: in its folder, unless `NEXT_DIR` names a copy. */
export const dir: string = process.env.NEXT_DIR ?? fileURLToPath(web)
export const host: string = process.env.HOST ?? '127.0.0.1'
export const port: number = Number(process.env.PORT ?? 0)

/** Loads a module of the app's Next. */
export const requireOfApp: NodeJS.Require = createRequire(join(dir, 'package.json'))

export const next = requireOfApp('next') as typeof nextModule.default

/** Next listens for errors that nobody handles, and lets the process end with 0: it has to be said that one failed. */
export function fail(error: unknown): never {
  console.error(error)
  process.exit(1)
}
