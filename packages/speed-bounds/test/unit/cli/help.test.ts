import { spawnSync } from 'node:child_process'
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
