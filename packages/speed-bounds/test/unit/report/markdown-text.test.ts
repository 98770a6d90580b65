import { expect, it } from 'vitest'
import { markdownText } from '../../../src/report/markdown-text.ts'

it('keeps the name of a CPU with its clock rate', () => {
  expect(markdownText('Intel(R) Xeon(R) Processor @ 2.80GHz')).toBe('Intel(R) Xeon(R) Processor @ 2.80GHz')
})

it('makes no mention of a name after an at sign', () => {
  expect(markdownText('@ada and @ ada')).toBe('@\u200Bada and @ ada')
})
