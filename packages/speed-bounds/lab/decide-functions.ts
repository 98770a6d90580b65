// Decides claims about functions again and again: which verdict comes, and when. Writes the rounds of races of a function
// against itself.

import { writeFileSync } from 'node:fs'
import { race } from '../src/index.ts'
import type { Round } from '../src/statistics/measured-round.ts'
import type { RecordedHeat, RecordedRace } from './recorded-functions.ts'

const [, , over = 'second', tries = '6', file] = process.argv
const GROUPS = ['loop', 'json', 'promises']

const recorded: RecordedRace[] = []
for (let count = 0; count < Number(tries); count++) {
  const group = GROUPS[count % GROUPS.length]!
  const match = race(new URL('work.bench.ts', import.meta.url), { group })
  const began = performance.now()
  // The first measures no third function.
  const { verdict, estimates } = await match.decide(over, { contender: 'first', atLeast: 1 })
  const time = ((performance.now() - began) / 1000).toFixed(1)
  const ratios = estimates.map(
    ({ metric, ratio, low, high, replicas }) =>
      `${metric} ${ratio.toFixed(3)}x (${low.toFixed(3)} to ${high.toFixed(3)}, ${replicas.join('+')})`,
  )
  const { rounds } = match.result()
  recorded.push({ group, heats: heatsOf(rounds, over) })
  console.log(`${group} ${time} s ${verdict}: ${ratios.join(', ')}`)
}
if (file !== undefined) writeFileSync(file, `${JSON.stringify(recorded)}\n`)

function heatsOf(rounds: readonly Round[], other: string): RecordedHeat[] {
  const costsOf = (name: string): RecordedHeat[0][] =>
    rounds
      .filter(({ subject }) => subject === name)
      .map(({ cpu, throughput, foreignCpu }) => [rounded(cpu), rounded(throughput), rounded(foreignCpu)])
  const others = costsOf(other)
  return costsOf('first').map((costs, index) => [costs, others[index]!])
}

function rounded(value: number): number {
  return Number(value.toPrecision(5))
}
