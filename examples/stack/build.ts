// `next build`, unless a build is newer than the sources. `/catalog` is rendered now, so the catalog has to run.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const web = fileURLToPath(new URL('web/', import.meta.url))

if (!(await isBuilt())) {
  const next = createRequire(import.meta.url).resolve('next/dist/bin/next')
  const env = { ...process.env, NODE_ENV: 'production' as const, NEXT_TELEMETRY_DISABLED: '1' }
  const [code] = await once(spawn(process.execPath, [next, 'build', web], { env, stdio: 'inherit' }), 'exit')
  process.exitCode = Number(code ?? 1)
}

async function isBuilt(): Promise<boolean> {
  const builtAt = await modifiedAt(join(web, '.next/BUILD_ID')).catch(() => 0)
  const sources = [fileURLToPath(new URL('package.json', import.meta.url))]
  for await (const file of glob('**/*.*', {
    cwd: web,
    exclude: (name) => name === '.next' || name === 'next-env.d.ts',
  })) {
    sources.push(join(web, file))
  }
  return Math.max(...(await Promise.all(sources.map(modifiedAt)))) < builtAt
}

async function modifiedAt(path: string): Promise<number> {
  return (await stat(path)).mtimeMs
}
