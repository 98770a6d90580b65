// In a process of its own, as each app is.

import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { twoServers } from '../helpers/two-servers.ts'

it(
  'nothing is kept of an app that has a proxy, unless told',
  async () => {
    const warned: string[] = []
    const stream = { write: (line: string) => void warned.push((JSON.parse(line) as { msg: string }).msg) }
    const servers = await twoServers('newest', { proxied: 'never' }, { logger: { level: 'warn', stream } })
    expect(servers.app.nextStats()?.responseCache).toBeUndefined()
    expect(warned).toContain(
      'response cache disabled for this Next app: it has middleware, and "responseCache.proxied" is "never"',
    )
    await servers.close()
    expect(existsSync(servers.dir)).toBe(false)
  },
  BUILD_TIMEOUT,
)
