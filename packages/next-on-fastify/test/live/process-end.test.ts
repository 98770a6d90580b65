import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

const PROGRAM = fileURLToPath(new URL('../fixtures/servers/ends-by-itself.ts', import.meta.url))

it(
  'a process ends by itself when its app is closed',
  async () => {
    const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }
    const dir = await builtFixture('newest')
    // It rejects when the program does not end with 0, and kills it when it does not end at all.
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, dir], { env, timeout: 60_000 })
    expect(stdout).toContain('status 200, true\nclosed\n')
  },
  BUILD_TIMEOUT,
)
