import { appendFileSync, writeFileSync } from 'node:fs'
import type { LoadStage } from 'speed-bounds'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { cases, startUpstreams, subjects } from '../suites/gateway.ts'
import { build, builtFile, nodes } from './node-versions.ts'
import { markdownOf, textOf } from './report.ts'
import { commandOf, freshFolder, reportTables } from './report-file.ts'
import { type MeasuredTimes, timesCsv, timesTable } from './response-times.ts'
import { constantly, userLoad } from './user-load.ts'

/** Seconds of the load at full scale, as its author had it. The shape stays the same at a smaller scale. */
const FULL = 70
const SECONDS = Number((FULL * inject('scale')).toFixed(1))

/** At full scale. */
const SEED: readonly LoadStage[] = [
  { users: 50, duration: 10_000 },
  { users: 50, duration: 20_000 },
  { users: 100, duration: 10_000 },
  { users: 100, duration: 20_000 },
  { users: 0, duration: 10_000 },
]

/** In 70 seconds a cold start does not show; in 7 it would. Milliseconds. */
const WARM_UP = 2000

const OURS = 'aggregator-gateway'
const names = ['nestjs-express-axios', 'nestjs-fastify-axios', 'nestjs-fastify-undici', OURS] as const
/** They need undici 8, which needs Node 22.19. */
const notOn20: readonly string[] = ['nestjs-fastify-undici', OURS]

const measured: MeasuredTimes[] = []
let results: URL

beforeAll(async () => {
  results = freshFolder('gateway-seed')
  for (const name of names) await build(subjects[name] as URL)
  await startUpstreams()
})

describe.each(Object.entries(nodes))('Node %s', (version, node) => {
  for (const name of names) {
    it.skipIf(version === '20' && notOn20.includes(name))(
      `Node ${version}: ${name} answers 0 to 50 to 100 to 0 users in ${SECONDS} s`,
      async ({ annotate }) => {
        const { child, origin } = await startSubject(builtFile(subjects[name] as URL), { node })
        const url = origin + cases.small.path
        await userLoad(url, constantly(50, Math.min(WARM_UP, Math.round(SECONDS * 1000))))
        const figures = await userLoad(url, SEED, { timeScale: SECONDS / FULL })
        child.kill('SIGKILL')
        measured.push({ node: version, subject: name, seconds: SECONDS, ...figures })
        await annotate(`average ${figures.average.toFixed(2)} ms, p95 ${figures.p95.toFixed(2)} ms`, 'evidence')
        expect(figures.failures).toBe(0)
      },
    )
  }

  it.skipIf(version === '20')(`Node ${version}: ${OURS} has the shortest average and p95`, () => {
    const here = measured.filter(({ node: of }) => of === version)
    const ours = here.find(({ subject }) => subject === OURS)!
    const others = here.filter((one) => one !== ours)
    expect(ours.average).toBeLessThan(Math.min(...others.map(({ average }) => average)))
    expect(ours.p95).toBeLessThan(Math.min(...others.map(({ p95 }) => p95)))
  })
})

afterAll(() => {
  endSubjects()
  const table = timesTable(Object.keys(nodes), names, measured)
  const markdown = `# gateway-seed\n\n${markdownOf(table)}\n`
  writeFileSync(new URL('report.md', results), markdown)
  writeFileSync(new URL('times.json', results), `${JSON.stringify(measured, null, 2)}\n`)
  for (const node of Object.keys(nodes))
    writeFileSync(new URL(`node-${node}.csv`, results), timesCsv(node, names, measured))
  reportTables('gateway-seed', { run: inject('startedAt'), tables: [table] }, commandOf(inject('script')))
  if (process.env['GITHUB_STEP_SUMMARY']) appendFileSync(process.env['GITHUB_STEP_SUMMARY'], markdown)
  console.log(`\n${textOf(table)}\n`)
})
