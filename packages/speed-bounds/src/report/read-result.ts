import { readFileSync } from 'node:fs'
import { reasonOf } from 'checked-options'
import { errorCodes } from '../errors.ts'
import type { ResultDocument } from './result-document.ts'

/** Version of each kind of document, and the lists that it has. */
const KINDS: Readonly<Record<string, { readonly version: number; readonly lists: readonly string[] }>> = {
  race: { version: 2, lists: ['rounds', 'summaries', 'claims'] },
  comparison: { version: 1, lists: ['cases'] },
  load: { version: 1, lists: ['phases'] },
  functions: { version: 1, lists: ['functions', 'ratios', 'claims', 'rounds'] },
}

/** Reads the document of a race, a comparison, a load, or races of functions. */
export function readResult(file: string): ResultDocument {
  const document = parse(file)
  const isList = Array.isArray(document) && document.length > 0
  for (const part of isList ? (document as unknown[]) : [document]) assertResult(file, part, isList)
  return document as ResultDocument
}

/** Only races of functions come in lists. */
function assertResult(file: string, part: unknown, isInList: boolean): void {
  const document = (typeof part === 'object' && part !== null ? part : {}) as Record<string, unknown>
  const { version, kind = 'race' } = document
  const known = Object.hasOwn(KINDS, String(kind)) ? KINDS[String(kind)] : undefined
  const isRight = known?.lists.every((name) => Array.isArray(document[name])) ?? false
  if (!known || !isRight || (isInList && kind !== 'functions')) {
    throw invalid(`${file} is not a result of speed-bounds: expected a file that --json has written.`)
  }
  if (version !== known.version) {
    throw invalid(
      `${file} has version ${String(version)} of the result document, expected ${known.version}: measure again.`,
    )
  }
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw invalid(`Cannot read ${file}: ${reasonOf(error)}`, error)
  }
}

function invalid(message: string, cause?: unknown): Error {
  return new errorCodes.SPEED_BOUNDS_INVALID_RESULT(message, { cause })
}
