// Decides the same claim again and again: which verdict comes, and when.

import { race } from '../src/index.ts'
import { plainServer } from './servers.ts'

/** Microseconds of a plain response, about. */
const PLAIN = 12

const [, , tries = '20', factor = '2.5'] = process.argv
const dear = plainServer(PLAIN * (Number(factor) - 1))

for (let count = 0; count < Number(tries); count++) {
  const began = performance.now()
  const match = race({ plain: plainServer(), dear }, { path: '/' })
  const { verdict, estimates } = await match.decide('dear', { atLeast: 1, budget: 30_000 })
  const time = ((performance.now() - began) / 1000).toFixed(1)
  const { rounds } = match.result()
  const foreign = rounds.reduce((sum, { foreignCpu }) => sum + foreignCpu, 0) / rounds.length
  const ratios = estimates.map(
    ({ metric, ratio, low, high }) => `${metric} ${ratio.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)})`,
  )
  console.log(`${time} s ${verdict}: ${ratios.join(', ')}, ${foreign.toFixed(2)} foreign cores`)
}
