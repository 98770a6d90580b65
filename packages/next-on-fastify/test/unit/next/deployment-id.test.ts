import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { uniqueBuildId } from '../../../src/next/deployment-id.ts'

/** Build id that Next gives each build with a `deploymentId`. */
const CONSTANT = 'build-TfctsWXpff2fKS'

function idOf(buildId: string, deploymentId?: string): string {
  const distDir = mkdtempSync(join(tmpdir(), 'next-on-fastify-'))
  onTestFinished(() => rmSync(distDir, { recursive: true }))
  writeFileSync(join(distDir, 'BUILD_ID'), buildId)
  writeFileSync(join(distDir, 'required-server-files.json'), JSON.stringify({ config: { deploymentId } }))
  return uniqueBuildId(distDir, { distDir })
}

it('tells builds with a deploymentId apart, whose build id is the same', () => {
  expect(idOf(CONSTANT, 'a')).not.toBe(idOf(CONSTANT, 'b'))
  expect(idOf(CONSTANT, 'a')).toBe(idOf(CONSTANT, 'a'))
})

it('keeps the build id of builds without a deploymentId', () => {
  expect(idOf('one')).toBe('one')
  expect(idOf('one', '')).toBe('one')
})
