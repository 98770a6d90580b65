// Losses of many kinds of clients when a server is reloaded: clustered-server and its peers.

import { requireProgram } from '@test/required-program'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, expect, it } from 'vitest'
import {
  connectTo,
  type FaultReport,
  mixed,
  startFaultLoad,
} from '../../packages/clustered-server/test/helpers/fault-load.ts'
import { type ReloadingServer, reloadingServers, stopServers } from '../suites/reloading-servers.ts'
import { type Comparison, markdownOf, textOf } from './report.ts'

const RELOADS = Number(process.env['RELOADS'] ?? 5)

const OURS = 'clustered-server'

interface Reloaded extends FaultReport {
  /** Reloads that ended well by their server. */
  readonly reloads: number
}

const folder = new URL('../../results/clustered-reloads/', import.meta.url)
const reports = new Map<string, Reloaded>()
const missing: string[] = []

afterEach(stopServers)

for (const [name, { program, start }] of Object.entries(reloadingServers)) {
  it(`${name}: ${RELOADS} reloads under load`, { timeout: 60_000 + 35_000 * RELOADS }, async ({ annotate, skip }) => {
    if (program && !requireProgram(program, program)) {
      missing.push(name)
      skip(`${program} is not installed`)
    }
    const report = await reloaded(await start())
    reports.set(name, report)
    await annotate(`${report.answered} answered, ${failuresOf(report)}`, 'evidence')
    expect(report.unserved).toEqual([])
    expect(report.reloads).toBeGreaterThan(0)
  })
}

it(`${OURS} loses no request and closes no connection`, () => {
  expect(reports.get(OURS)).toMatchObject({
    ...{ reloads: RELOADS, notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [] },
  })
})

async function reloaded({ port, reload }: ReloadingServer): Promise<Reloaded> {
  const load = startFaultLoad({ connect: connectTo(port), clients: mixed })
  let reloads = 0
  for (let time = 0; time < RELOADS; time++) {
    await sleep(300 + Math.random() * 400)
    // One that never ends, or ends in an error, is a figure too.
    await reload().then(
      () => reloads++,
      () => {},
    )
  }
  await sleep(500)
  return { ...(await load.stop()), reloads }
}

afterAll(() => {
  const table = comparison()
  const markdown = `# clustered-reloads\n\n${markdownOf(table)}\n`
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('report.md', folder), markdown)
  writeFileSync(new URL('reports.json', folder), `${JSON.stringify(Object.fromEntries(reports), null, 2)}\n`)
  if (process.env['GITHUB_STEP_SUMMARY']) appendFileSync(process.env['GITHUB_STEP_SUMMARY'], markdown)
  console.log(`\n${textOf(table)}\n`)
})

function comparison(): Comparison {
  return {
    title: 'Reloads under load',
    head: ['server', 'reloads', 'answered', 'failed', 'by kind', 'announced closes', 'unannounced closes', 'reopened'],
    rows: [...reports].map(([name, report]) => [
      name,
      `${report.reloads} of ${RELOADS}`,
      ...[report.answered, report.failed].map((value) => value.toLocaleString('en')),
      failuresOf(report),
      ...[report.announced, report.unannounced, reopened(report)].map((value) => value.toLocaleString('en')),
    ]),
    legend: [
      'Announced: connection: close came with the last answer. Unannounced: closed between two requests. Reopened: by clients that keep theirs.',
      ...(missing.length > 0 ? [`Not installed, and left out: ${missing.join(', ')}`] : []),
    ],
  }
}

function failuresOf({ failures }: FaultReport): string {
  const kinds = Object.entries(failures).map(([kind, count]) => `${kind} ${count}`)
  return kinds.length > 0 ? kinds.join(', ') : 'none failed'
}

/** Connections beyond the first one of each keep-alive client. */
function reopened({ kinds }: FaultReport): number {
  const { short: _short, ...keeping } = kinds
  return Object.entries(keeping).reduce(
    (sum, [kind, { connections }]) => sum + connections - mixed[kind as keyof typeof mixed]!,
    0,
  )
}
