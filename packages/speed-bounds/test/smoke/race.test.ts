import { expect, it } from 'vitest'
import '../../src/vitest.ts'
import { race } from '../../src/index.ts'
import { ok, slowest, SMALL } from '../live/servers.ts'

it('tells a server from a slower one', async () => {
  await expect(race({ ok, slowest }, { ...SMALL, replicas: 3 })).toOutpace('slowest', { atLeast: 1.2, metric: 'cpu' })
})
