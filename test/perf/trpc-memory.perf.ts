import { mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { endSubjects } from '../running-subjects.ts'
import { quiet, subjects } from '../suites/trpc.ts'
import { bounds } from './bounds.ts'
import { subscriberMemory } from './subscriber-memory.ts'
import { claimText } from './suite.ts'

/**
 * If a bound were wrong, all five processes of the contender would still pass against all five of the other one in at most
 * one of 252 runs. So the worst process can be compared with the best one.
 */
const options = { subscription: quiet, few: 500, many: 1500, replicas: 5 }

const files = subjects as Readonly<Record<string, URL>>
const folder = new URL('../../results/trpc-memory/', import.meta.url)

afterEach(endSubjects)

for (const { contender, over, atLeast } of bounds['trpc-memory']) {
  const claim = claimText({ contender, over, atLeast })
  it.runIf(process.platform === 'linux')(`memory per subscriber: ${claim}`, async ({ annotate }) => {
    const figures = await subscriberMemory({ [contender]: files[contender]!, [over]: files[over]! }, options)
    mkdirSync(folder, { recursive: true })
    writeFileSync(new URL(`${contender}-${over}.json`, folder), JSON.stringify(Object.fromEntries(figures), null, 2))

    const [own, other] = [spread(figures.get(contender)!), spread(figures.get(over)!)]
    const [low, high] = [other.lowest / own.highest, other.highest / own.lowest]
    const ratio = other.median / own.median
    const processes = `${options.replicas}+${options.replicas} processes`
    await annotate(`rss ${ratio.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)}), ${processes}`, 'evidence')
    await annotate(`${contender} ${describe(own)}, ${over} ${describe(other)}`, 'evidence')
    expect(low).toBeGreaterThanOrEqual(atLeast)
  })
}

interface Spread {
  lowest: number
  median: number
  highest: number
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  return { lowest: sorted[0]!, median: sorted[Math.floor(sorted.length / 2)]!, highest: sorted.at(-1)! }
}

function describe({ lowest, median, highest }: Spread): string {
  const kilobytes = (bytes: number): string => (bytes / 1e3).toFixed(1)
  return `${kilobytes(median)} kB (${kilobytes(lowest)} to ${kilobytes(highest)})`
}
