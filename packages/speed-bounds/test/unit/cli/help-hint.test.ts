import { expect, it } from 'vitest'
import { withHelpHint, withoutHelpHint } from '../../../src/cli/help-hint.ts'

it.each([
  ['a sentence', "error: missing required argument 'base'\n"],
  ['a sentence with a full stop', "error: missing required argument 'base'."],
])('ends %s with the command that explains it', (_, error) => {
  const hinted = withHelpHint(error, 'speed-bounds compare')
  expect(hinted).toBe("error: missing required argument 'base'. See speed-bounds compare --help.")
  expect(withoutHelpHint(hinted, 'speed-bounds compare')).toBe("error: missing required argument 'base'.")
})

it('writes the hints of commander on the same line', () => {
  expect(withHelpHint("error: unknown option '--matric'\n(Did you mean --metric?)\n", 'speed-bounds race')).toBe(
    "error: unknown option '--matric' (Did you mean --metric?). See speed-bounds race --help.",
  )
})

it('leaves an error without a hint as it is', () => {
  expect(withoutHelpHint('The base is missing.', 'speed-bounds compare')).toBe('The base is missing.')
})
