import { expect, it } from 'vitest'
import { nodeVersions } from '../../../src/cli/node-versions.ts'
import { installNode } from '../../../src/platform/node-binary.ts'

it.each<[text: string, versions: string[]]>([
  ['22', ['22']],
  ['22, 24.1,26.0.0', ['22', '24.1', '26.0.0']],
  ['22,24,22', ['22', '24']],
])('reads %j', (text, versions) => expect(nodeVersions(text)).toEqual(versions))

// npm would take some of them for an option, a folder or another package.
const NO_VERSIONS = ['', 'lts', '22,', '22;ls', '--prefix', '../x', '22 || 24', 'v22', '22.x', '1.2.3.4']

it.each(NO_VERSIONS)('rejects %j', (text) => {
  expect(() => nodeVersions(text)).toThrow('Expected versions of Node, such as 22,24 or 22.19.0.')
})

it.each(NO_VERSIONS)('never asks npm for %j', async (text) => {
  await expect(installNode(text)).rejects.toThrow(
    /could not be installed: expected a version such as 22 or 22\.19\.0\.$/,
  )
})
