import { expect, it } from 'vitest'
import '../../src/vitest.ts'
import { race } from '../../src/index.ts'
import { ok, muchSlower, SMALL } from '../helpers/servers.ts'

it('tells a server from a slower one', async () => {
  await expect(race({ ok, muchSlower }, { ...SMALL, replicas: 3 })).toOutpace('muchSlower', {
    atLeast: 1.2,
    metric: 'cpu',
  })
})
