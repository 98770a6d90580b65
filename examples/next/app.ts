import nextModule from 'next'
import { fileURLToPath } from 'node:url'

/** Where the built app is: here, unless `NEXT_DIR` names a copy. */
export const dir: string = process.env.NEXT_DIR ?? fileURLToPath(new URL('web', import.meta.url))
export const host: string = process.env.HOST ?? '127.0.0.1'
export const port: number = Number(process.env.PORT ?? 0)

/** Node takes all that Next exports for its default export, which the types of Next do not know. */
export const next: typeof nextModule.default = nextModule as unknown as typeof nextModule.default

/** Next listens for errors that nobody handles, and lets the process end with 0: it has to be said that one failed. */
export function fail(error: unknown): never {
  console.error(error)
  process.exit(1)
}
