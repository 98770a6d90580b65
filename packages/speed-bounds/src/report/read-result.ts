import { readFileSync } from 'node:fs'
import { errorCodes } from '../errors.ts'
import type { Comparison } from '../compare/comparison.ts'
import type { LoadReport } from '../load-test/load-report.ts'
import type { RaceResult } from './result.ts'

const VERSIONS = { race: 2, comparison: 1, load: 1 }

/** Reads the document of a race, a comparison or a load. */
export function readResult(file: string): RaceResult | Comparison | LoadReport {
  const document = parse(file)
  const { version, kind, rounds, summaries, claims, cases, phases } = document
  const type = kind === 'comparison' || kind === 'load' ? kind : 'race'
  const expected = VERSIONS[type]
  const parts = { comparison: [cases], load: [phases], race: [rounds, summaries, claims] }[type]
  if (!parts.every((part) => Array.isArray(part))) {
    throw invalid(`${file} is not a result of speed-bounds: expected a file that --json has written.`)
  }
  if (version !== expected) {
    throw invalid(`${file} has version ${String(version)} of the result document, expected ${expected}: measure again.`)
  }
  return document as unknown as RaceResult | Comparison | LoadReport
}

function parse(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch (error) {
    throw invalid(`Cannot read ${file}: ${(error as Error).message}`, error)
  }
}

function invalid(message: string, cause?: unknown): Error {
  return new errorCodes.SPEED_BOUNDS_INVALID_RESULT(message, { cause })
}
