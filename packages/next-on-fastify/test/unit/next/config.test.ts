// Settings of a configuration, as Next's own loader resolves it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readConfig, usesUseCache } from '../../../src/next/config.ts'

it.each([
  ['nothing', {}, false],
  ['cacheComponents', { cacheComponents: true }, true],
  ['experimental.useCache', { experimental: { useCache: true } }, true],
])("says whether an app may have 'use cache': %s", async (_, config, expected) => {
  const dir = mkdtempSync(join(import.meta.dirname, 'config-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'next.config.mjs'), `export default ${JSON.stringify(config)}`)
  expect(usesUseCache(await readConfig(dir))).toBe(expected)
})
