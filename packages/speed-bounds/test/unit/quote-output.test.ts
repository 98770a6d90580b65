import { expect, it } from 'vitest'
import { quoteOutput } from '../../src/quote-output.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('')

it('quotes nothing of an empty output', () => {
  expect(quoteOutput('\n')).toBe('')
})

it('quotes the last lines', () => {
  const lines = quoteOutput(numbered(20)).split('\n')
  expect(lines).toEqual(['', ...Array.from({ length: 12 }, (_, index) => `  | line ${index + 8}`)])
})

it('begins with the cause if more lines than fit follow it', () => {
  const output = `npm error code EUSAGE\nnpm error not in sync\nnpm error Missing: fastify\n${numbered(60)}`
  expect(quoteOutput(output, /in sync/)).toMatch(
    /^\n {2}\| npm error not in sync\n {2}\| npm error Missing: fastify\n {2}\| line 0\n/,
  )
})

it('quotes what precedes a cause near the end', () => {
  expect(quoteOutput('a diff\nthe lockfile would have been modified\n', /lockfile/)).toBe(
    '\n  | a diff\n  | the lockfile would have been modified',
  )
})
