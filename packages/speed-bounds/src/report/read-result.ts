import { readFileSync } from 'node:fs'
import { errorCodes } from '../errors.ts'
import type { RaceResult } from './result.ts'

const VERSION = 2

/** Reads a result document. */
export function readResult(file: string): RaceResult {
  const document = parse(file)
  const { version, rounds, summaries, claims } = document
  if (![rounds, summaries, claims].every((part) => Array.isArray(part))) {
    throw invalid(`${file} is not a result of speed-bounds: expected a file that --json has written.`)
  }
  if (version !== VERSION) {
    throw invalid(`${file} has version ${String(version)} of the result document, expected ${VERSION}: measure again.`)
  }
  return document as unknown as RaceResult
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
