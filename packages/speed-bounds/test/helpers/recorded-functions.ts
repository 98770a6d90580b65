import { readFileSync } from 'node:fs'
import type { FunctionRaceResult } from '../../src/index.ts'

/** The races of two groups of functions on a busy machine, as `speed-bounds bench --json` has written them. */
export function recordedFunctions(): [FunctionRaceResult, FunctionRaceResult] {
  const file = new URL('../fixtures/functions.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as [FunctionRaceResult, FunctionRaceResult]
}
