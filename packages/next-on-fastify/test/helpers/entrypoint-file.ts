// What a build has for a route: a module of its own.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The file of an entry point that has been loaded, unless told otherwise. */
export function entrypointFile(content: string, isLoaded = true): string {
  const dir = mkdtempSync(join(tmpdir(), 'next-on-fastify-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'entrypoint.js')
  writeFileSync(file, content)
  if (isLoaded) createRequire(file)(file)
  return file
}
