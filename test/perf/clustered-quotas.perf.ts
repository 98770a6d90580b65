// As many workers as a quota has cores for, against one process under the same quota: `workers: 'auto'` must not cost.

import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CommandSubject } from 'speed-bounds'
import { afterAll, it } from 'vitest'
import { cases, subjects } from '../suites/clustered-server.ts'
import { bounds } from './bounds.ts'
import { perfSuite, type SuiteRace } from './suite.ts'

interface Hierarchy {
  readonly folder: string
  readonly file: string
  readonly text: (quota: number) => string
}

/** Where control groups of CPU are, and how a quota is written there, in microseconds of each 100 ms. */
const HIERARCHIES: readonly Hierarchy[] = [
  { folder: '/sys/fs/cgroup/cpu', file: 'cpu.cfs_quota_us', text: String },
  { folder: '/sys/fs/cgroup', file: 'cpu.max', text: (quota) => `${quota} 100000` },
]
const PERIOD = 100_000

const QUOTAS = [0.25, 0.5, 1, 1.5, 2]

const prefix = `speed-bounds-${process.pid}-`
const hierarchy = HIERARCHIES.find(({ folder, file, text }) => {
  const group = `${folder}/${prefix}probe`
  try {
    mkdirSync(group)
  } catch {
    return false
  }
  try {
    // Without a controller of CPU there is no such file, and none can be made.
    if (!existsSync(`${group}/${file}`)) return false
    writeFileSync(`${group}/${file}`, text(PERIOD))
    return true
  } finally {
    rmdirSync(group)
  }
})

it('quotas can be set here', ({ skip }) => {
  if (!hierarchy) skip('no control groups of CPU can be made here, which takes root')
})

perfSuite('clustered-quotas', hierarchy ? QUOTAS.map((quota) => raceWithin(hierarchy, quota)) : [])

afterAll(() => {
  if (!hierarchy) return
  const { folder } = hierarchy
  for (const group of readdirSync(folder).filter((name) => name.startsWith(prefix))) rmdirSync(`${folder}/${group}`)
})

function raceWithin({ folder, file, text }: Hierarchy, quota: number): SuiteRace {
  // A group of its own for each process, with those that it starts: what rests must not slow down what is measured.
  const script = `set -e; group=${folder}/${prefix}$$; mkdir $group; echo "$0" > $group/${file}; echo $$ > $group/cgroup.procs; exec "$@"`
  const within = (name: keyof typeof subjects, workers?: string): CommandSubject => {
    const { file: server, env } = subjects[name]
    return {
      command: ['sh', '-c', script, text(quota * PERIOD), process.execPath, fileURLToPath(server)],
      env: { ...env, ...(workers && { WORKERS: workers }) },
    }
  }
  return {
    title: `${quota} cores`,
    subjects: { 'single-process': within('single-process'), clustered: within('clustered', 'auto') },
    options: {
      // With less than two cores the generator has what is left of the machine's; with two, next to nothing.
      ...(quota < 2 ? { cases: { hello: cases.hello } } : { cases: { primes: cases.primes }, connections: 16 }),
      // A quarter of a core takes so long to start, and to have its code optimised.
      startTimeout: 60_000,
      leastWarmUp: 2500,
      warmUp: 6000,
      // Several periods of the quota.
      duration: 1000,
      cycles: 4,
    },
    bounds: quota < 2 ? bounds['clustered-quotas'] : [],
  }
}
