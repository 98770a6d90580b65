// The package without what this workspace has installed beside it: its sources, copied to a folder of their own.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** Copies the sources to a new folder beside these files, and returns the paths of the folder and of the command. */
export function copyPackage(files: Readonly<Record<string, string>>): { folder: string; cli: string } {
  const folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(fileURLToPath(new URL('../../src', import.meta.url)), join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return { folder, cli: join(folder, 'src/cli/cli.ts') }
}
