import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const cli = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))

it.each(['race', 'run', 'compare', 'bench', 'load', 'report', 'self-check'])(
  'the help of %s fits 80 columns',
  (command) => {
    const { stdout, status } = spawnSync(process.execPath, [cli, command, '--help'], { encoding: 'utf8' })
    expect(status).toBe(0)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)

it('ends quietly when the reader of its output has gone', async () => {
  const child = spawn(process.execPath, [cli, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let printed = ''
  child.stderr.on('data', (chunk) => (printed += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  expect({ code, printed }).toEqual({ code: 0, printed: '' })
})
