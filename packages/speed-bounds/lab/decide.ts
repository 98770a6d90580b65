// Decides the same claim again and again: which verdict comes, and when.

import { type Metric, race } from '../src/index.ts'
import { plainServer } from './servers.ts'

/** `plain`: microseconds of a plain response on this machine. */
const [, , tries = '20', factor = '2.5', budget = '30', metric = 'cpu', plain = '14'] = process.argv
const dear = plainServer(Number(plain) * (Number(factor) - 1))
const counts: Record<string, number> = {}

for (let count = 0; count < Number(tries); count++) {
  const began = performance.now()
  const match = race({ plain: plainServer(), dear }, { path: '/' })
  const { verdict, estimates } = await match.decide('dear', {
    atLeast: 1,
    budget: Number(budget) * 1000,
    ...(metric === 'both' ? {} : { metric: metric as Metric }),
  })
  const time = ((performance.now() - began) / 1000).toFixed(1)
  const { rounds } = match.result()
  const foreign = rounds.reduce((sum, { foreignCpu }) => sum + foreignCpu, 0) / rounds.length
  const ratios = estimates.map(
    ({ metric: name, ratio, low, high, replicas }) =>
      `${name} ${ratio.toFixed(3)}x (${low.toFixed(3)} to ${high.toFixed(3)}) ${replicas.join('+')}`,
  )
  counts[verdict] = (counts[verdict] ?? 0) + 1
  console.log(
    `${time} s ${verdict}: ${ratios.join(', ')}, ${rounds.length} rounds, ${foreign.toFixed(2)} foreign cores`,
  )
}
console.log(`${factor}x, ${budget} s: ${JSON.stringify(counts)}`)
