import { expect, it } from 'vitest'
import '../../src/vitest.ts'
import { race } from '../../src/index.ts'
import { ok, muchSlower, SMALL } from '../helpers/servers.ts'

it('a claim against a much slower server holds', async () => {
  await expect(race({ ok, muchSlower }, { ...SMALL, replicas: 3 })).toOutpace('muchSlower', {
    atLeast: 1.2,
    metric: 'cpu',
  })
})
