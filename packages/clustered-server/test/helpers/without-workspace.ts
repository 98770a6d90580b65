// The package with nothing installed beside it but its own dependencies: its sources, copied to a temporary folder.

import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** Copies the sources to a new folder beside these files, and returns the paths of the folder and of the command. */
export function copyPackage(files: Readonly<Record<string, string>>): { folder: string; cli: string } {
  const folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(fileURLToPath(new URL('../../src', import.meta.url)), join(folder, 'src'), { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(
    realpathSync(new URL('../../node_modules/checked-options', import.meta.url)),
    join(folder, 'node_modules/checked-options'),
  )
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return { folder, cli: join(folder, 'src/cli/main.ts') }
}
