// `npx -y pnpm@12 exec node test/perf/readme-figures/write.ts` puts the figures of the last run into docs/results.json, and those of
// docs/results.json into the READMEs. With the argument `--readmes`, it does the second part only.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lastRun, readResults, RESULTS_FILE, withRun } from './record.ts'
import { READMES, withFigures } from './markers.ts'

const ROOT = new URL('../../../', import.meta.url)

try {
  writeAll(process.argv.slice(2))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

function writeAll(args: readonly string[]): void {
  let results = readResults()
  const readmesOnly = args.includes('--readmes')
  if (!readmesOnly) {
    const run = lastRun(new URL('results/', ROOT))
    if (!run) throw new Error('Expected results in results/, found none. Run `npx -y pnpm@12 test:perf` first.')
    results = withRun(results, run)
    writeFileSync(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`)
  }
  for (const path of READMES) {
    const file = new URL(path, ROOT)
    writeFileSync(file, withFigures(readFileSync(file, 'utf8'), results))
  }
  const written = [...(readmesOnly ? [] : ['docs/results.json']), ...READMES]
  execFileSync('oxfmt', written, { cwd: fileURLToPath(ROOT), stdio: 'inherit' })
  console.log(`Wrote ${written.join(', ')}.`)
}
