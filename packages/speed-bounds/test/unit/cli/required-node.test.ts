import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { REQUIRED_NODE, versionError } from '../../../src/cli/required-node.ts'

it('is the version of package.json', () => {
  const manifest = new URL('../../../package.json', import.meta.url)
  const { engines } = JSON.parse(readFileSync(manifest, 'utf8')) as { engines: { node: string } }
  expect(engines.node).toBe(`>=${REQUIRED_NODE}`)
})

it.each(['22.19.0', '22.23.3', '24.0.0', '24.21.0', '100.1.0'])('accepts Node %s', (version) => {
  expect(versionError(version)).toBeUndefined()
})

it.each(['20.20.2', '22.18.9', '18.0.0', '21.99.0'])('rejects Node %s in one line', (version) => {
  expect(versionError(version)).toBe(`speed-bounds needs Node 22.19 or newer, got ${version}: update Node.`)
})
