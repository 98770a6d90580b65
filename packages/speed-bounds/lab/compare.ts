// Compares the same two refs again and again: which verdict comes, and when.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Comparison } from '../src/compare/comparison.ts'

const cli = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

const [, , folder, base, head, tries = '1', budget = '60'] = process.argv
if (folder === undefined || base === undefined || head === undefined) throw new Error('Name a repository and two refs.')

const results = mkdtempSync(join(tmpdir(), 'speed-bounds-lab-'))
const counts: Record<string, number> = {}
for (let count = 0; count < Number(tries); count++) {
  const began = performance.now()
  const json = join(results, 'comparison.json')
  const args = [cli, 'compare', base, head, '--budget', `${budget}s`, '--json', json]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`The comparison has ended with ${code}.`)
  const { cases } = JSON.parse(readFileSync(json, 'utf8')) as Comparison
  const time = ((performance.now() - began) / 1000).toFixed(1)
  for (const { verdict, ratio, low, high } of cases) {
    console.log(`${time} s ${verdict}: ${ratio?.toFixed(3)}x (${low?.toFixed(3)} to ${high?.toFixed(3)})`)
    counts[verdict] = (counts[verdict] ?? 0) + 1
  }
}
rmSync(results, { recursive: true })
console.log(`${base} to ${head}, ${budget} s: ${JSON.stringify(counts)}`)
