import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { cases, startUpstreams, subjects } from '../suites/gateway.ts'
import { publishedTimes } from './published.ts'
import { type Comparison, markdownOf, textOf } from './report.ts'
import { constantly, type LoadFigures, type Stage, userLoad } from './user-load.ts'

/** Seconds for the load of each subject with each version of Node. Its author took 70; the shape stays the same. */
const SECONDS = Number(process.env['GATEWAY_SEED_SECONDS'] ?? 7)

/** Seconds, of 70. */
const SEED: readonly Stage[] = [
  { users: 50, duration: 10 },
  { users: 50, duration: 20 },
  { users: 100, duration: 10 },
  { users: 100, duration: 20 },
  { users: 0, duration: 10 },
]
const stages = SEED.map(({ users, duration }) => ({ users, duration: (duration / 70) * SECONDS * 1000 }))

/** In 70 seconds a cold start does not show; in 7 it would. Milliseconds. */
const WARM_UP = 2000

const own = process.versions.node.split('.', 1)[0]!
const nodeOf = (version: string): string =>
  fileURLToPath(new URL(`../node-versions/node_modules/node-${version}/bin/node`, import.meta.url))
const nodes: Readonly<Record<string, string>> = { 20: nodeOf('20'), 22: nodeOf('22'), [own]: process.execPath }

const OURS = 'aggregator-gateway'
const names = ['nestjs-express-axios', 'nestjs-fastify-axios', 'nestjs-fastify-undici', OURS] as const
/** They need undici 8, which needs Node 22.19. */
const notOn20: readonly string[] = ['nestjs-fastify-undici', OURS]

interface Measured extends LoadFigures {
  readonly node: string
  readonly subject: string
}

const results = new URL('../../results/gateway-seed/', import.meta.url)
const measured: Measured[] = []

beforeAll(async () => {
  rmSync(results, { recursive: true, force: true })
  mkdirSync(results, { recursive: true })
  for (const name of names) await buildSubject(name)
  await startUpstreams()
})

describe.each(Object.entries(nodes))('Node %s', (version, node) => {
  for (const name of names) {
    it.skipIf(version === '20' && notOn20.includes(name))(
      `Node ${version}: ${name} answers 0 to 50 to 100 to 0 users in ${SECONDS} s`,
      async ({ annotate }) => {
        const { child, origin } = await startSubject(builtSubject(name), { node })
        const url = origin + cases.small.path
        await userLoad(url, constantly(50, WARM_UP))
        const figures = await userLoad(url, stages)
        child.kill('SIGKILL')
        measured.push({ node: version, subject: name, ...figures })
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
  const table = comparison()
  const markdown = `# gateway-seed\n\n${markdownOf(table)}\n`
  writeFileSync(new URL('report.md', results), markdown)
  writeFileSync(new URL('times.json', results), `${JSON.stringify(measured, null, 2)}\n`)
  if (process.env['GITHUB_STEP_SUMMARY']) appendFileSync(process.env['GITHUB_STEP_SUMMARY'], markdown)
  console.log(`\n${textOf(table)}\n`)
})

function comparison(): Comparison {
  const milliseconds = (time: number | undefined): string => (time === undefined ? '' : `${time.toFixed(2)} ms`)
  return {
    title: `Response times published then, measured now in ${SECONDS} s (${publishedTimes.source})`,
    head: ['system', 'average then', 'now', 'p95 then', 'now', 'requests/s now'],
    rows: Object.keys(nodes).flatMap((node) =>
      names.map((subject) => {
        const isOf = (of: { node: string; subject: string }): boolean => of.node === node && of.subject === subject
        const before = publishedTimes.times.find(isOf)
        const now = measured.find(isOf)
        return [
          `Node ${node} ${subject}`,
          milliseconds(before?.average),
          milliseconds(now?.average),
          milliseconds(before?.p95),
          milliseconds(now?.p95),
          now ? Math.round(now.answers / SECONDS).toLocaleString('en') : '',
        ]
      }),
    ),
    legend: [`${notOn20.join(' and ')} need Node 22.19`],
  }
}

function builtSubject(name: string): URL {
  return new URL(`dist/${name}.js`, subjects['aggregator-gateway'] as URL)
}

/** Node 20 cannot strip types, so all versions run the same JavaScript. The packages do not change. */
async function buildSubject(name: (typeof names)[number]): Promise<void> {
  const bundle = await rolldown({ input: fileURLToPath(subjects[name] as URL), platform: 'node', external: /^[^./]/ })
  await bundle.write({ file: fileURLToPath(builtSubject(name)) })
  await bundle.close()
}
