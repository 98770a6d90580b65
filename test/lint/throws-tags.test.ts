import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Codes of errors, or the class of an error without a code, then when it is thrown. */
const FORM = /^@throws (?:[A-Z][A-Z_]+|[A-Z]\w*Error|Error)(?:,| (?:for|when|with|of|in) |$)/

it('each `@throws` begins with the code of the error, or with its class', () => {
  const tags = globSync('packages/*/src/**/*.ts').flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/@throws[^\n]*?(?=\s*(?:\*\/|\n))/g)].map(([tag]) => tag),
  )
  expect(tags.length).toBeGreaterThan(50)
  expect(tags.filter((tag) => !FORM.test(tag))).toEqual([])
})
