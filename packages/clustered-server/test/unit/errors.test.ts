import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ClusteredServerError, errorCodes } from '../../src/index.ts'

const SRC = new URL('../../src/', import.meta.url)
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(new URL(file, SRC), 'utf8'))

it('throws each code somewhere', () => {
  const thrown = sources.flatMap((source) =>
    [...source.matchAll(/new errorCodes\.(\w+)\(|'(CLUSTERED_SERVER_START_FAILED)'$/gm)].map(([, a, b]) => a ?? b),
  )
  expect(new Set(thrown)).toEqual(new Set(Object.keys(errorCodes)))
})

it('identifies errors by class and code', () => {
  const cause = new Error('why')
  const error = new errorCodes.CLUSTERED_SERVER_RELOAD_FAILED('text', { cause })
  expect(error).toBeInstanceOf(Error)
  expect(error).toBeInstanceOf(ClusteredServerError)
  expect(error).toBeInstanceOf(errorCodes.CLUSTERED_SERVER_RELOAD_FAILED)
  expect(error).not.toBeInstanceOf(errorCodes.CLUSTERED_SERVER_CLOSED)
  expect(error).toMatchObject({ code: 'CLUSTERED_SERVER_RELOAD_FAILED', cause })
  expect(String(error)).toBe('ClusteredServerError: text')
  expect('cause' in new errorCodes.CLUSTERED_SERVER_CLOSED('text')).toBe(false)
})
