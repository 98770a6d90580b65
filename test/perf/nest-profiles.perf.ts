// Seed 004 compares V8 profiles of NestJS on Express and on Fastify: the ten hottest functions of each, under its load.

import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { cases, subjects } from '../suites/http-frameworks.ts'
import { type CpuProfile, hottestFunctions } from './hottest-functions.ts'
import { type Comparison, markdownOf, textOf } from './report.ts'
import { commandOf, freshFolder, reportTables } from './report-file.ts'
import { constantly, userLoad } from './user-load.ts'

const SUITE = 'nest-profiles'
const COUNT = 10
const USERS = 200
/** Milliseconds. */
const DURATION = 4000

const tables: Comparison[] = []
let folder: URL

beforeAll(() => {
  folder = freshFolder(SUITE)
})

it.each(['nestjs-express', 'nestjs-fastify'] as const)('profiles %s', async (name) => {
  const place = new URL(`${name}/`, folder)
  const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${fileURLToPath(place)}`]
  const { child, origin } = await startSubject(subjects[name] as URL, { nodeArgs })
  const since = Number(process.hrtime.bigint() / 1000n)
  const { failures } = await userLoad(origin + cases.hello.path, constantly(USERS, DURATION))
  child.kill('SIGTERM')
  await once(child, 'exit')
  const [file] = readdirSync(place)
  const profile = JSON.parse(readFileSync(new URL(file!, place), 'utf8')) as CpuProfile
  const functions = hottestFunctions(profile, COUNT, since)
  tables.push({
    title: `The ${COUNT} hottest functions of ${name} (seed 004: V8 profile, ${USERS} connections)`,
    head: ['function', 'place', 'share of the busy time'],
    rows: functions.map((one) => [one.name, one.place, `${(100 * one.share).toFixed(1)} %`]),
    legend: [],
  })
  expect(failures).toBe(0)
  expect(functions).toHaveLength(COUNT)
})

afterAll(() => {
  endSubjects()
  writeFileSync(new URL('report.md', folder), `${tables.map((table) => markdownOf(table)).join('\n\n')}\n`)
  reportTables(SUITE, { run: inject('startedAt'), tables }, commandOf(inject('script')))
  console.log(`\n${tables.map((table) => textOf(table)).join('\n\n')}\n`)
})
