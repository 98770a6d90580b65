import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { functionsToMarkdown, functionsToTerminal } from '../../../src/index.ts'
import { recordedFunctions } from '../../helpers/recorded-functions.ts'

const results = recordedFunctions()
const [, second] = results

it('shows each group with its verdicts', () => {
  expect(stripVTControlCharacters(functionsToTerminal(second)).split('\n')).toEqual([
    'parse.bench.mjs, long',
    ' function   CPU/call   calls/s   processes',
    ' split       4.96 µs   137,949           6',
    ' match       6.95 µs    67,751           6',
    'split is at least 1x match (parse.bench.mjs, long): holds',
    '  CPU per call: 1.39x (1.05x to 1.83x), holds [99.9 % interval, 6+6 processes, 12 rounds]',
    expect.stringContaining('  calls per second: 1.81x (0.647x to 5.09x), not used ['),
  ])
  const both = stripVTControlCharacters(functionsToTerminal(results))
  expect(both).toMatch(/^parse\.bench\.mjs, short\n[^]*\n\nparse\.bench\.mjs, long\n/)
})

it.each([40, 80])('has no line longer than a terminal of %d columns', (columns) => {
  const long = { ...second, name: 'x'.repeat(200) }
  const lines = stripVTControlCharacters(functionsToTerminal(long, { columns })).split('\n')
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
})

it('has the same as Markdown, in which names are text', () => {
  const functions = second.functions.map((one) => ({ ...one, name: '<b>|' }))
  const text = functionsToMarkdown({ ...second, functions })
  expect(text).toContain('### parse.bench.mjs, long')
  expect(text).toMatch(/\| &lt;b&gt;\\\| +\| +4\.96 µs \| +137,949 \|/)
  expect(text).toMatch(/\| split at least 1x match \| \*\*holds\*\* \| cpu 1\.39x \(1\.05x to 1\.83x\);/)
  expect(text).toContain('250 ms of calls in each process')
})

it('marks an interval that the verdict does not use, as Markdown too', () => {
  const claims = second.claims.map((claim) => ({
    ...claim,
    estimates: claim.estimates.map((estimate) => ({ ...estimate, disturbed: estimate.metric === 'throughput' })),
  }))
  const cells = functionsToMarkdown({ ...second, claims })
  expect(cells).toMatch(/\| cpu [^;|]*\); throughput [^;|]*\), not used +\|/)
})

it('says how much time is missing for a claim without an interval', () => {
  const claims = second.claims.map((claim) => ({ ...claim, estimates: [], missing: 4200 }))
  const text = stripVTControlCharacters(functionsToTerminal({ ...second, claims }))
  expect(text).toContain('not enough data yet (needs about 5 s more)')
})

it('leaves the table out before the first process', () => {
  const claims = second.claims.map((claim) => ({ ...claim, estimates: [] }))
  const unmeasured = { ...second, functions: [], claims }
  expect(functionsToTerminal(unmeasured)).not.toContain('CPU/call')
  expect(functionsToMarkdown(unmeasured)).not.toContain('CPU/call')
  expect(functionsToMarkdown(unmeasured)).toMatch(/\*\*holds\*\* \| not enough data yet \|/)
})
