import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startSettings } from '../../../src/cli/config/start-settings.ts'

it('merges recycle, linger and admin of flags and the configuration file key by key', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const config = join(directory, 'clustered-server.config.json')
  const ofFile = { recycle: { age: 1 }, linger: { time: 1, builds: 3 }, admin: { port: 0, host: '::1' } }
  writeFileSync(config, JSON.stringify({ app: config, ...ofFile }))
  const flags = { recycle: { requests: 2 }, linger: { time: 2 }, admin: { port: 2 } }
  const given = { positional: undefined, only: undefined, env: undefined, envFiles: [], args: [], watch: undefined }
  const { options } = await startSettings({ ...given, config, options: flags })
  expect(options).toMatchObject({
    recycle: { age: 1, requests: 2 },
    linger: { time: 2, builds: 3 },
    admin: { port: 2, host: '::1' },
  })
})
