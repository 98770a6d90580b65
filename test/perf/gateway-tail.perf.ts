import { mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { startUpstreams, tail } from '../suites/gateway.ts'
import { bounds } from './bounds.ts'
import { claimText } from './suite.ts'
import { constantly, type LoadFigures, userLoad } from './user-load.ts'

/**
 * If a bound were wrong, the worst of five processes with hedging would still pass against the best of five without in at
 * most one of 252 times. A busy machine gets three attempts.
 */
const [PROCESSES, TIMES] = [5, 3]

/** More users would wait for each other, and not for the upstream. */
const USERS = 3

/** Windows in milliseconds. A disturbance of some tenths of a second is in some of them only. */
const [WINDOWS, DURATION] = [5, 2000]
/** Milliseconds until code is optimized, and the hedging delay has come down from the first responses. */
const WARM_UP = 6000

/** Maximum upstream calls, as a multiple of the needed ones. */
const MOST_CALLS = 1.02
const CALLS = 5

interface Figures extends LoadFigures {
  /** Upstream calls, as a multiple of the needed ones. */
  readonly calls: number
}

const folder = new URL('../../results/gateway-tail/', import.meta.url)

let upstreams: Awaited<ReturnType<typeof startUpstreams>>
beforeEach(async () => {
  upstreams = await startUpstreams()
})
afterEach(endSubjects)

for (const { contender, over, atLeast, metric } of bounds['gateway-tail']) {
  const claim = claimText({ contender, over, atLeast, ...(metric && { metric }) })
  const more = `at most ${Math.round((MOST_CALLS - 1) * 100)} % more upstream calls`
  it(`one call in a hundred is 200 ms late: ${claim}, by ${more}`, async ({ annotate }) => {
    const measureAll = async (): Promise<Record<string, Figures[]>> => {
      const figures: Record<string, Figures[]> = { [contender]: [], [over]: [] }
      for (let process = 0; process < PROCESSES; process++) {
        const { child, origin } = await startSubject(tail)
        await userLoad(`${origin}/${contender}/150`, constantly(USERS, WARM_UP))
        const windows: Record<string, Figures[]> = { [contender]: [], [over]: [] }
        for (let window = 0; window < WINDOWS; window++) {
          for (const name of [contender, over]) windows[name]!.push(await measure(`${origin}/${name}/150`))
        }
        for (const [name, of] of Object.entries(windows)) figures[name]!.push(asOne(of))
        child.kill('SIGKILL')
      }
      for (const { failures } of Object.values(figures).flat()) expect(failures).toBe(0)
      for (const { calls } of figures[contender]!) expect(calls).toBeLessThanOrEqual(MOST_CALLS)
      for (const { calls } of figures[over]!) expect(calls).toBe(1)
      return figures
    }
    let figures = await measureAll()
    for (let time = 1; time < TIMES && leastRatio(figures, contender, over) < atLeast; time++)
      figures = await measureAll()
    mkdirSync(folder, { recursive: true })
    writeFileSync(new URL(`${contender}-${over}.json`, folder), `${JSON.stringify(figures, null, 2)}\n`)

    for (const [name, of] of Object.entries(figures)) await annotate(`${name}: ${describe(of)}`, 'evidence')
    expect(leastRatio(figures, contender, over)).toBeGreaterThanOrEqual(atLeast)
  })
}

async function measure(url: string): Promise<Figures> {
  const before = await upstreams.usage()
  const figures = await userLoad(url, constantly(USERS, DURATION))
  const after = await upstreams.usage()
  // load() also sends a request before, to check its response.
  const requests = figures.answers + 1
  return { ...figures, calls: (after.calls.late - before.calls.late) / (CALLS * requests) }
}

/** Of the windows of a process, the one in the middle by each figure. */
function asOne(windows: readonly Figures[]): Figures {
  const middle = (value: (of: Figures) => number): number =>
    windows.map(value).toSorted((a, b) => a - b)[Math.floor(windows.length / 2)]!
  const sum = (value: (of: Figures) => number): number => windows.reduce((total, of) => total + value(of), 0)
  return {
    answers: sum(({ answers }) => answers),
    failures: sum(({ failures }) => failures),
    calls: sum(({ calls, answers }) => calls * answers) / sum(({ answers }) => answers),
    average: middle(({ average }) => average),
    p95: middle(({ p95 }) => p95),
    p99: middle(({ p99 }) => p99),
    p999: middle(({ p999 }) => p999),
  }
}

/** The best process of one over the worst of the other, by p99. */
function leastRatio(figures: Record<string, readonly Figures[]>, contender: string, over: string): number {
  const [own, other] = [figures[contender]!, figures[over]!]
  return Math.min(...other.map(({ p99 }) => p99)) / Math.max(...own.map(({ p99 }) => p99))
}

function describe(figures: readonly Figures[]): string {
  const list = (value: (of: Figures) => string): string => figures.map(value).join(', ')
  return `p99 ${list(({ p99 }) => p99.toFixed(1))} ms, p99.9 ${list(({ p999 }) => p999.toFixed(1))} ms, upstream calls ${list(({ calls }) => `${(calls * 100).toFixed(2)} %`)}`
}
