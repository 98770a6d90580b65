import { describe, expect, it } from 'vitest'
import { type FunctionRaceResult, toHtml } from '../../../../src/index.ts'
import { repeatBenchCommand } from '../../../../src/report/html/repeat-command.ts'
import { ACTIVE, describesPlots, EVIL, MAX_SIZE, renamed, titlesOf } from '../../../helpers/html-report.ts'
import { recordedFunctions } from '../../../helpers/recorded-functions.ts'

const results = recordedFunctions()
const [first, second] = results
const page = toHtml(results)
const GROUP = ['Ratios', 'Measurements', 'CPU per call, by process']

describe('the report of functions', () => {
  it('loads nothing and runs nothing', () => expect(page).not.toMatch(ACTIVE))

  it('has the parts of each group', () => {
    expect(titlesOf(page)).toEqual([first.name, ...GROUP, second.name, ...GROUP, 'Conditions', 'Repeat it'])
    expect(titlesOf(toHtml(first))).toEqual([...GROUP, 'Conditions', 'Repeat it'])
  })

  it('has a card with the verdict of each claim, and its group', () => {
    expect(page.match(/<\/span> (holds|broken|inconclusive)<\/p>/g)).toHaveLength(3)
    expect(page).toContain('split is at least 1x again <small>parse.bench.mjs, short</small>')
    expect(toHtml(first)).not.toContain('<small>parse.bench.mjs, short</small>')
  })

  it('has a card for each ratio if there are no claims', () => {
    const measured = toHtml({ ...first, claims: [] })
    expect(measured.match(/<p class="verdict">measured, no claim<\/p>/g)).toHaveLength(2)
    expect(measured).toContain('CPU per call: 2.40x')
  })

  it('has the samples, and the units of calls', () => {
    expect(page).toContain('aria-label="match: median 93.5 ns over 2 processes"')
    expect(page).toContain('<th scope="col">CPU per call</th>')
    expect(page).not.toContain('per request')
  })

  it('shows functions that a busy machine has disturbed throughout', () => {
    const busy = second.rounds.map((round) => ({ ...round, discarded: 'foreign-cpu' as const }))
    const shown = toHtml({ ...second, rounds: busy })
    expect(titlesOf(shown)).toContain('CPU per call, by process')
    expect(shown).not.toContain('NaN')
  })

  it('describes each plot in words', () => describesPlots(page, 10))

  it('gives names no meaning', () => {
    const evil = toHtml(renamed(results))
    expect(evil).toContain(EVIL)
    expect(evil).not.toMatch(/<script|<img/)
  })

  it('stays below 300 kB with 300 groups, and shows broken claims first', () => {
    const many = Array.from({ length: 300 }, (_, index): FunctionRaceResult => {
      const claims = first.claims.map(
        (claim) => ({ ...claim, verdict: index === 299 ? 'broken' : claim.verdict }) as const,
      )
      return { ...first, name: `group ${index}`, claims }
    })
    const big = toHtml(many)
    expect(big.length).toBeLessThan(MAX_SIZE)
    expect(big).toMatch(/<article class="card [^]*?<\/span> broken<\/p>/)
    expect(big.indexOf('</span> broken</p>')).toBeLessThan(big.indexOf('</span> inconclusive</p>'))
    expect(big).toMatch(/\d+ more groups are left out, to keep the file small\./)
    expect(big).toMatch(/\d+ more verdicts are left out, to keep the file small\./)
  })

  it.each<[string, Partial<FunctionRaceResult>]>([
    ['without measurements', { functions: [], ratios: [], claims: [], rounds: [] }],
    [
      'whose claims have no interval',
      { claims: first.claims.map((claim) => ({ ...claim, estimates: [], missing: 9 })) },
    ],
    ['with a single process', { rounds: first.rounds.slice(0, 1), ratios: [] }],
    ['with a CPU of 0', { rounds: first.rounds.map((round) => ({ ...round, cpu: 0 })) }],
    ['of inline functions', { file: null }],
  ])('draws a result %s', (_, part) => {
    expect(toHtml({ ...first, ...part }).replace(/<style>[^]*<\/style>/, '')).not.toMatch(/NaN|undefined|Infinity|null/)
  })
})

describe('the command that repeats a race of functions', () => {
  it('names each file once, and the flags that are not the default', () => {
    expect(repeatBenchCommand(results)).toBe('npx speed-bounds bench parse.bench.mjs --budget 12000ms')
  })

  it('has the bound and the metric of the flags', () => {
    const claims = first.claims.map((claim) => ({ ...claim, atLeast: 1.2, estimates: claim.estimates.slice(0, 1) }))
    expect(repeatBenchCommand([{ ...first, claims }])).toBe(
      `npx speed-bounds bench parse.bench.mjs --at-least 1.2 --metric cpu --budget 12000ms --seed ${first.method.seed}`,
    )
  })

  it('leaves the claims of a file to the file', () => {
    const claims = [{ ...first.claims[0]!, atLeast: 3 }]
    expect(repeatBenchCommand([{ ...first, claims }])).not.toContain('--at-least')
  })

  it('does not exist for inline functions', () => {
    const inline = { ...first, file: null }
    expect(repeatBenchCommand([inline])).toBeUndefined()
    expect(toHtml(inline)).toContain('The functions are inline')
  })
})
