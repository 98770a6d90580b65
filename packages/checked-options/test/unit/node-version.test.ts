import { expect, it } from 'vitest'
import { nodeVersionError } from '../../src/node-version.ts'

it('accepts the Node of this process', () => {
  expect(nodeVersionError('build', '20.19')).toBeUndefined()
})

it.each(['22.19.0', '22.23.3', '24.0.0', '24.21.0', '100.1.0'])('accepts Node %s', (version) => {
  expect(nodeVersionError('build', '22.19', version)).toBeUndefined()
})

it.each(['20.20.2', '22.18.9', '18.0.0', '21.99.0'])('rejects Node %s in one line', (version) => {
  expect(nodeVersionError('build', '22.19', version)).toBe(
    `build needs Node 22.19 or newer, got ${version}: update Node.`,
  )
})
