// The report at the end of a run: the claim of each package, the figures of the five seed texts, and how to repeat it.

import { type Published, published, publishedTimes } from './published.ts'
import { type Comparison, markdownOf, publishedAlone, textOf } from './report.ts'
import { type FigureName, figureSources, HEADLINES } from './readme-figures/figures.ts'
import { type Figure, type FinishedRun, hasFigures, measuredBy, type Results } from './readme-figures/record.ts'

const ALL = 'npx -y pnpm@12 test:perf:all'

/** The published figures of each seed text, and the suite that repeats its load. */
const SEEDS: Readonly<Record<string, { readonly figures: readonly Published[]; readonly suite: string }>> = {
  '000': {
    figures: [published.seed000page, published.seed000api, published.seed000nextApi, published.seed000docker],
    suite: 'next-seed',
  },
  '002': { figures: [published.seed002], suite: 'trpc' },
  '003': { figures: [published.seed003], suite: 'http-frameworks' },
  '004': { figures: [published.seed004], suite: 'http-frameworks' },
}

export function finalReport(run: FinishedRun, results: Results): readonly Comparison[] {
  const measured = [...run.races.flatMap(({ comparisons }) => comparisons), ...run.tables]
  const isOf = (source: string): ((table: Comparison) => boolean) => {
    return ({ title }) => title.endsWith(`(${source})`)
  }
  const seeds = Object.values(SEEDS).flatMap(({ figures, suite }) =>
    figures.flatMap((one) => {
      const own = measured.filter(isOf(one.source))
      return own.length > 0 ? own : [publishedAlone(one, `${ALL} ${suite}`)]
    }),
  )
  const times = measured.filter(isOf(publishedTimes.source))
  const known = new Set([...seeds, ...times])
  return [
    headlines(run, results),
    ...seeds,
    ...(times.length > 0 ? times : [timesAlone()]),
    ...run.tables.filter((table) => !known.has(table)),
    ...nodesTable(run),
  ]
}

export function finalText(run: FinishedRun, results: Results, columns: number): string {
  return [...finalReport(run, results).map((table) => textOf(table, columns)), howToRepeat(run).join('\n')].join('\n\n')
}

export function finalMarkdown(run: FinishedRun, results: Results): string {
  const tables = finalReport(run, results).map((table) => markdownOf(table))
  return `# Performance report\n\n${tables.join('\n\n')}\n\n## How to repeat this\n\n${howToRepeat(run).join('\n')}\n`
}

function headlines(run: FinishedRun, { figures, runs }: Results): Comparison {
  const rows = Object.entries(HEADLINES).flatMap(([name, own]) =>
    own.map((figure) => {
      const recorded = figures[figure]
      return [
        name,
        claimOf(figure),
        ratioOf(measuredBy(run, figureSources[figure])),
        verdictOf(run, figure),
        `${ratioOf(recorded)}, ${runs[recorded.run]!.date}`,
      ]
    }),
  )
  return {
    title: 'CPU per request: the claim of each package',
    head: ['package', 'claim', 'measured now (interval)', 'bound', 'in docs/results.json'],
    rows,
    legend: ['Above 1x, the package costs less. An empty cell was not measured in this run.'],
  }
}

const NODE_TITLE = /^Node (\d+): (.*)$/

/** The headline case of each suite by version of Node, if the run measured that. */
function nodesTable({ races }: FinishedRun): Comparison[] {
  const measured = races.flatMap(({ title, result }) => {
    const [, node, claim] = NODE_TITLE.exec(title) ?? []
    const estimate = [...result.ratios, ...result.claims.flatMap(({ estimates }) => estimates)].findLast(
      ({ metric }) => metric === 'cpu',
    )
    if (node === undefined || claim === undefined || !estimate) return []
    const { ratio, low, high } = estimate
    return [{ node, claim, text: `${ratio.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)})` }]
  })
  if (measured.length === 0) return []
  const nodes = [...new Set(measured.map(({ node }) => node))].toSorted()
  const claims = [...new Set(measured.map(({ claim }) => claim))]
  return [
    {
      title: 'CPU per request by version of Node (interval)',
      head: ['claim', ...nodes.map((node) => `Node ${node}`)],
      rows: claims.map((claim) => [
        claim,
        ...nodes.map((node) => measured.find((one) => one.node === node && one.claim === claim)?.text ?? ''),
      ]),
      legend: ['An empty cell does not run on this Node, or its rounds were discarded.'],
    },
  ]
}

function claimOf(name: FigureName): string {
  const { contender, over, case: kase } = figureSources[name]
  return `${kase}: ${contender} over ${over}`
}

function ratioOf(figure: Omit<Figure, 'run'> | undefined): string {
  return figure ? `${figure.ratio}x (${figure.low} to ${figure.high})` : ''
}

function verdictOf({ races }: FinishedRun, name: FigureName): string {
  const source = figureSources[name]
  const claims = races
    .filter(({ suite, title }) => source.races.includes(`${suite}: ${title}`))
    .flatMap(({ result }) => result.claims)
    .filter(({ contender, over, case: kase }) => {
      return contender === source.contender && over === source.over && kase === source.case
    })
  return claims.map(({ atLeast, verdict }) => `${atLeast}x ${verdict}`).join(', ')
}

function timesAlone(): Comparison {
  return {
    title: `Published then, not measured in this run (${publishedTimes.source})`,
    head: ['system', 'average then', 'p95 then'],
    rows: publishedTimes.times.map(({ node, subject, average, p95 }) => [
      `Node ${node} ${subject}`,
      `${average} ms`,
      `${p95} ms`,
    ]),
    legend: [`Measure it by: ${ALL} gateway-seed`],
  }
}

function howToRepeat(run: FinishedRun): string[] {
  const { command, races, startedAt } = run
  const environment = races[0]?.result.environment
  const machine = environment && `${environment.cpu}, ${environment.cores} cores, ${environment.system}`
  return [
    `Command: \`${command}\`, on a machine that does nothing else.`,
    ...(environment ? [`This run: ${machine}, Node ${environment.node}, commit ${environment.commit}.`] : []),
    `Start: ${new Date(startedAt).toISOString()}.`,
    ...(hasFigures(run)
      ? ['Figures of READMEs: `npx -y pnpm@12 exec node test/perf/readme-figures/write.ts` records this run.']
      : []),
  ]
}
