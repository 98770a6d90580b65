import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const { WORKERS = '2' } = process.env

// PM2 finds others of its kind by this folder: with one of its own, two of them run beside each other.
const home = mkdtempSync(join(tmpdir(), 'pm2-'))
const pm2 = spawn(
  path('node_modules/.bin/pm2-runtime'),
  ['start', path('single-process.ts'), '--interpreter', 'node', '-i', WORKERS === 'auto' ? 'max' : WORKERS, '--raw'],
  { env: { HOST: '127.0.0.1', PORT: '0', ...process.env, PM2_HOME: home }, stdio: 'inherit' },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => pm2.kill(signal))
pm2.once('exit', (code) => {
  rmSync(home, { recursive: true })
  process.exitCode = code ?? 1
})
