import { writeFileSync } from 'node:fs'
import { errorCodes } from '../errors.ts'

/** Fails on a path that cannot be written before the race, not after it. */
export function assertWritable(...files: (string | undefined)[]): void {
  for (const file of files) if (file !== undefined) writeResult(file, '')
}

export function writeResult(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(`Cannot write ${file}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

export function toJson(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`
}
