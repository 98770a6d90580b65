// The report of a run as one HTML file without scripts, fonts or images of others.

import type { RaceResult, Summary } from 'speed-bounds'
import type { Comparison } from './report.ts'

/** A race of a suite: its result, and its tables beside published figures. */
export interface ReportedRace {
  readonly suite: string
  readonly title: string
  readonly result: Omit<RaceResult, 'rounds'>
  readonly comparisons: readonly Comparison[]
}

type Claim = RaceResult['claims'][number]

const VERDICTS = {
  holds: { mark: '✓', word: 'holds' },
  broken: { mark: '✗', word: 'broken' },
  inconclusive: { mark: '?', word: 'inconclusive' },
} as const

const METRICS: Readonly<Record<string, string>> = {
  cpu: 'CPU per request',
  throughput: 'throughput',
  p99: 'p99 latency',
  rss: 'memory',
  peakRss: 'peak memory',
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --line: #d9d9e0; --card: #fff; --page: #f6f6f8;
  --holds: #1a7f4b; --broken: #c4342b; --inconclusive: #9a6700; --bar: #8da4ef; --bound: #1c2024; }
@media (prefers-color-scheme: dark) { :root { --ink: #edeef0; --soft: #b0b4ba; --line: #363a3f; --card: #1d1e22; --page: #111113;
  --holds: #3dd68c; --broken: #ff8b80; --inconclusive: #f5d90a; --bar: #5472e4; --bound: #edeef0; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.6rem; margin: 0 0 .25rem } h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem } h3 { font-size: 1rem; margin: 1.5rem 0 .5rem }
p { margin: .25rem 0 } .soft { color: var(--soft) } code { font-size: .9em }
.cards { margin-top: 1.25rem; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: .75rem }
.card { background: var(--card); border: 1px solid var(--line); border-left: .3rem solid var(--verdict); border-radius: .5rem; padding: .75rem 1rem }
.card h3 { margin: 0 } .holds { --verdict: var(--holds) } .broken { --verdict: var(--broken) } .inconclusive { --verdict: var(--inconclusive) }
.verdict { color: var(--verdict); font-weight: 600 } .ratio { font-size: 1.5rem; font-weight: 600 }
.card svg { width: 100%; height: 1.5rem; display: block }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem }
th, td { padding: .4rem .75rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--line) }
thead th { border-top: 0; color: var(--soft); font-weight: 500 } th:first-child, td:first-child { text-align: left }
`

/** Makes the report of one or more suites; `command` is how to repeat it. */
export function htmlReport(
  races: readonly ReportedRace[],
  { command, minutes }: { command: string; minutes: number },
): string {
  const claims = races.flatMap((race) => race.result.claims.map((claim) => ({ race, claim })))
  const counts = Object.keys(VERDICTS).map((verdict) => ({
    verdict,
    count: claims.filter(({ claim }) => claim.verdict === verdict).length,
  }))
  const summary = counts.filter(({ count }) => count > 0).map(({ verdict, count }) => `${count} ${verdict}`)
  const environment = races[0]?.result.environment
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Performance report</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Performance report</h1>
<p>${claims.length} claims: ${summary.join(', ') || 'none'}.</p>
<p class="soft">${environment ? escape(machineOf(environment)) : 'No race was run.'} Measured in ${minutes.toFixed(1)} minutes.</p>
<p class="soft">Repeat it with <code>${escape(command)}</code>. A ratio above 1 means that the first server is better; the bar is
its interval, the line is the claim. CPU is that of the server's whole process tree.</p>
<section aria-label="Claims" class="cards">
${claims.map(({ race, claim }) => card(race, claim)).join('\n')}
</section>
${races.map(section).join('\n')}
${environment ? versions(races) : ''}
</main>
</body>
</html>
`
}

function card({ title, result }: ReportedRace, claim: Claim): string {
  const { mark, word } = VERDICTS[claim.verdict]
  const decisive = claim.estimates[0]
  const many = result.cases.length > 1 ? ` (${escape(claim.case)})` : ''
  return `<article class="card ${claim.verdict}">
<h3>${escape(claim.contender)} over ${escape(claim.over)}${many}</h3>
<p class="soft">${escape(title)}</p>
<p><span class="ratio">${decisive ? ratio(decisive.ratio) : '–'}</span> <span class="verdict">${mark} ${word}</span></p>
${claim.estimates.map((estimate) => interval(estimate, claim.atLeast)).join('\n')}
${decisive ? '' : `<p class="soft">Claimed: at least ${ratio(claim.atLeast)}. Too few rounds counted for an interval.</p>`}
</article>`
}

/** An interval on a logarithmic axis, with the claim as a line. */
function interval({ metric, ratio: middle, low, high }: Claim['estimates'][number], atLeast: number): string {
  const [least, most] = [Math.min(low, atLeast, 1) * 0.9, Math.max(high, atLeast, 1) * 1.1]
  const at = (value: number): number => (300 * Math.log(value / least)) / Math.log(most / least)
  const label = `${METRICS[metric] ?? metric}: ${ratio(middle)} (${ratio(low)} to ${ratio(high)}), claimed at least ${ratio(atLeast)}`
  return `<svg viewBox="0 0 300 24" role="img" aria-label="${escape(label)}" preserveAspectRatio="none">
<line x1="0" x2="300" y1="12" y2="12" stroke="var(--line)" stroke-width="2"/>
<rect x="${at(low).toFixed(1)}" y="7" width="${Math.max(2, at(high) - at(low)).toFixed(1)}" height="10" rx="3" fill="var(--bar)"/>
<circle cx="${at(middle).toFixed(1)}" cy="12" r="4" fill="var(--ink)"/>
<line x1="${at(atLeast).toFixed(1)}" x2="${at(atLeast).toFixed(1)}" y1="1" y2="23" stroke="var(--bound)" stroke-width="2" stroke-dasharray="3 2"/>
</svg>
<p class="soft">${escape(label)}</p>`
}

function section({ suite, title, result, comparisons }: ReportedRace): string {
  const tables = result.cases.map(({ name, method, path }) => {
    const rows = result.summaries.filter((summary) => summary.case === name).toSorted((a, b) => a.mean.cpu - b.mean.cpu)
    return `<h3>${escape(name)} <span class="soft"><code>${escape(`${method} ${path}`)}</code></span></h3>
${table(['server', 'CPU per request', 'requests per second', 'p50', 'p99', 'memory', 'limited by'], rows.map(cellsOf))}`
  })
  const published = comparisons.map(
    ({ title: name, head, rows, legend }) =>
      `<h3>${escape(name)}</h3>${table(head, rows)}${legend.map((line) => `<p class="soft">${escape(line)}</p>`).join('')}`,
  )
  const { load, method, summaries } = result
  // A race that is decided early starts fewer processes than it may.
  const processes = summaries.map(({ replicas }) => replicas.length)
  const range = [...new Set([Math.min(...processes), Math.max(...processes)])].join(' to ')
  return `<section>
<h2>${escape(title)}</h2>
<p class="soft">${escape(suite)}: ${escape(load.generator)}, ${load.connections} connections, ${range} ${range === '1' ? 'process' : 'processes'} of each server, ${method.stages} ${method.stages === 1 ? 'stage' : 'stages'}.</p>
${[...tables, ...published].join('\n')}
</section>`
}

function cellsOf({ subject, mean, bottleneck }: Summary): string[] {
  const [limit] = Object.entries(bottleneck).toSorted(([, a], [, b]) => b - a)[0] ?? ['']
  return [
    subject,
    `${digits(mean.cpu)} µs`,
    Math.round(mean.throughput).toLocaleString('en'),
    `${digits(mean.p50)} ms`,
    `${digits(mean.p99)} ms`,
    `${Math.round(mean.rss / 1e6)} MB`,
    limit,
  ]
}

function versions(races: readonly ReportedRace[]): string {
  const all = Object.assign({}, ...races.map(({ result }) => result.environment.packages)) as Record<string, string>
  const list = Object.entries(all).map(([name, version]) => `${name} ${version}`)
  return `<section><h2>Versions</h2><p class="soft">${escape(list.join(', '))}</p></section>`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, values: readonly string[]): string =>
    values.map((value) => `<${tag}>${escape(value)}</${tag}>`).join('')
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')
  return `<div class="scroll"><table><thead><tr>${cells('th', head)}</tr></thead><tbody>${body}</tbody></table></div>`
}

function machineOf({ cpu, cores, memory, system, node, commit }: RaceResult['environment']): string {
  const gigabytes = Math.round(memory / 2 ** 30)
  return `${cpu}, ${cores} cores, ${gigabytes} GiB, ${system}, Node ${node}${commit ? `, commit ${commit}` : ''}.`
}

function ratio(value: number): string {
  return `${digits(value)}x`
}

function digits(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

function escape(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}
