// `npx -y pnpm@12 test:perf:nodes --scale 0.1` measures with several versions of Node, in a tenth of the usual time.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const USAGE = 'expected --scale with a number above 0 and up to 10: 1 repeats the published load in its 70 s'

function readScale(): number {
  const { scale } = parseArgs({ options: { scale: { type: 'string', default: '1' } } }).values
  const value = Number(scale)
  if (!(value > 0 && value <= 10)) throw new Error(`${USAGE}, got ${JSON.stringify(scale)}.`)
  return value
}

try {
  const scale = readScale()
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
  const args = [vitest, 'run', '--project', 'perf-nodes', '--reporter', './test/perf/reporter.ts']
  const { status } = spawnSync(process.execPath, args, {
    cwd: new URL('../../', import.meta.url),
    env: { ...process.env, PERF_SCALE: String(scale) },
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
}
