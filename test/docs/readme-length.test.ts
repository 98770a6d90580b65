import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const readmes = globSync('packages/*/README.md')

it('each package has a README', () => {
  expect(readmes).toHaveLength(globSync('packages/*/package.json').length)
})

it.each(readmes)('%s has at most 200 lines', (path) => {
  expect(readFileSync(path, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(200)
})
