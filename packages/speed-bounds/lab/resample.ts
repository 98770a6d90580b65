// Draws the first looks of races from recorded rounds. A round stands for a process, so processes of one server differ as
// much as single rounds do: more than in a real race.

import { readFileSync } from 'node:fs'
import { resolveClaim } from '../src/options/resolve-claim.ts'
import { resolveRace } from '../src/options/resolve.ts'
import { FIRST_CYCLES, processesIn } from '../src/statistics/interim-looks.ts'
import type { Round } from '../src/statistics/measured-round.ts'
import { judge } from '../src/statistics/verdict.ts'

const [, , file, tries = '2000'] = process.argv
if (file === undefined) throw new Error('Usage: node lab/resample.ts <file> [tries]')

const recorded = JSON.parse(readFileSync(file, 'utf8')) as Round[]
const options = resolveRace({ a: './a.ts', b: './b.ts' }, { path: '/' })
const claim = resolveClaim(options, 'b', { atLeast: 1 })

/** A round as any recorded one, of a subject that costs `factor` times as much. */
function drawn(factor: number, place: Pick<Round, 'subject' | 'replica' | 'cycle'>): Round {
  const { heat: _, discarded: __, ...round } = recorded[Math.floor(Math.random() * recorded.length)]!
  return {
    ...round,
    ...place,
    stage: 1,
    case: claim.case,
    cpu: round.cpu * factor,
    responses: Math.round(round.responses / factor),
    throughput: round.throughput / factor,
    ...(round.foreignCpu > options.maxForeignCpu ? { discarded: 'foreign-cpu' as const } : {}),
  }
}

function firstRounds(factor: number, cycles: number): Round[] {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
  return numbers(cycles).flatMap((cycle) =>
    numbers(processesIn(1, cycle, options.replicas)).flatMap((replica) => [
      drawn(1, { subject: 'a', replica, cycle }),
      drawn(factor, { subject: 'b', replica, cycle }),
    ]),
  )
}

for (let cycles = 1; cycles <= FIRST_CYCLES; cycles++) {
  for (const factor of [1, 2, 2.5, 4]) {
    const verdicts = Array.from({ length: Number(tries) }, () => judge(claim, firstRounds(factor, cycles)).verdict)
    const share = (verdict: string): string =>
      `${((100 * verdicts.filter((one) => one === verdict).length) / verdicts.length).toFixed(2)} % ${verdict}`
    console.log(`look ${cycles}, ${factor}x: ${share('holds')}, ${share('broken')}`)
  }
}
