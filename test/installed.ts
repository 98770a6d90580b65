import { spawnSync } from 'node:child_process'

/** Whether a program is there that no npm package brings. In CI it has to be: its tests fail without it. */
export function isInstalled(program: string): boolean {
  return Boolean(process.env['CI']) || spawnSync('which', [program]).status === 0
}
