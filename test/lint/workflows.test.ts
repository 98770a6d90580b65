import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
}
interface Job {
  'timeout-minutes'?: number
  permissions?: Record<string, string>
  steps: Step[]
}
interface Workflow {
  name: string
  on: Record<string, unknown>
  permissions: unknown
  jobs: Record<string, Job>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const workflows = globSync('.github/workflows/*.yml', { cwd: root })
  .toSorted()
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { file: basename(path), text, workflow: parse(text) as Workflow }
  })
const usesOf = (text: string): string[] => [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, uses]) => uses!)

/** Jobs that may write, and what: anything else is a mistake, or has to be added here. */
const WRITERS: Readonly<Record<string, Record<string, string>>> = {
  'release.yml version': { contents: 'write', 'pull-requests': 'write' },
  'release.yml publish': { contents: 'write', 'id-token': 'write' },
  'scorecard.yml scorecard': { contents: 'read', 'id-token': 'write', 'security-events': 'write' },
}

describe.each(workflows)('$file', ({ file, text, workflow }) => {
  const jobs = Object.entries(workflow.jobs)
  const steps = jobs.flatMap(([, job]) => job.steps)

  it('pins each action by its commit and names the version', () => {
    const unpinned = usesOf(text).filter((uses) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(uses))
    expect(unpinned).toEqual([])
  })

  it('may read and nothing else, except in jobs that are listed', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    const writers = jobs.filter(([, { permissions }]) => permissions !== undefined)
    const expected = Object.entries(WRITERS).filter(([name]) => name.startsWith(`${file} `))
    expect(Object.fromEntries(writers.map(([name, { permissions }]) => [`${file} ${name}`, permissions]))).toEqual(
      Object.fromEntries(expected),
    )
  })

  it('bounds the time of each job', () => {
    const unbounded = jobs.filter(([, job]) => typeof job['timeout-minutes'] !== 'number').map(([name]) => name)
    expect(unbounded).toEqual([])
  })

  it('leaves no credentials in a checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    expect(checkouts.length).toBeGreaterThan(0)
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([])
  })

  it('gives scripts no text that others write', () => {
    const scripts = steps.map(({ run = '' }) => run)
    const contexts = scripts.flatMap((run) =>
      [...run.matchAll(/\$\{\{(.*?)\}\}/g)].map(([, context]) => context!.trim()),
    )
    // Its own matrix, and the name of the event.
    const harmless = /^(?:matrix\.\w+|github\.event_name\b.*)$/
    expect(contexts.filter((context) => !harmless.test(context))).toEqual([])
  })

  it('runs no pull request with rights of the repository', () => {
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target')
  })

  it('runs files that exist', () => {
    const files = steps.flatMap(({ run = '' }) => [...run.matchAll(/\bnode (test\/\S+)/g)].map(([, path]) => path!))
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

it('all workflows use the same version of an action', () => {
  // `owner/name/path@commit # version` -> `owner/name@commit # version`
  const pins = workflows.flatMap(({ text }) => usesOf(text)).map((uses) => uses.replace(/^([^/]+\/[^/@]+)[^@]*/, '$1'))
  const repositories = [...new Set(pins)].map((pin) => pin.split('@')[0]!)
  expect(repositories.toSorted()).toEqual([...new Set(repositories)].toSorted())
})
