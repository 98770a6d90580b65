import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ClusteredServerError } from '../../src/index.ts'

const SRC = new URL('../../src/', import.meta.url)
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(new URL(file, SRC), 'utf8'))

it('each code is thrown somewhere, and each that is thrown is declared', () => {
  const union = sources
    .map((source) => /export type ClusteredServerErrorCode =\n((?:\s*\| '\w+'\n)+)/.exec(source)?.[1])
    .find((found) => found !== undefined)
  const declared = [...union!.matchAll(/'(\w+)'/g)].map(([, code]) => code)
  const thrown = sources.flatMap((source) =>
    [...source.matchAll(/new ClusteredServerError\(\s*'(\w+)'/g)].map(([, code]) => code),
  )
  expect(declared.length).toBeGreaterThan(5)
  expect(new Set(declared).size).toBe(declared.length)
  expect(new Set(thrown)).toEqual(new Set(declared))
})

it('an error has its name, its code and its cause', () => {
  const cause = new Error('why')
  const error = new ClusteredServerError('CLUSTERED_SERVER_RELOAD_FAILED', 'what', { cause })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ code: 'CLUSTERED_SERVER_RELOAD_FAILED', cause })
  expect(String(error)).toBe('ClusteredServerError: what')
  expect('cause' in new ClusteredServerError('CLUSTERED_SERVER_CLOSED', 'what')).toBe(false)
})
