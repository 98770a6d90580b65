import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { suites as allSuites } from '../../examples/suites.ts'
import { subjects as clustered } from '../suites/clustered-server.ts'
import { dashboard, subjects as gateways, tail, upstreams } from '../suites/gateway.ts'
import { subjects as frameworks } from '../suites/http-frameworks.ts'
import { clusters, subjects as nexts } from '../suites/next.ts'
import { subjects as trpc } from '../suites/trpc.ts'

const folder = fileURLToPath(new URL('../../examples/', import.meta.url))
/** Folders that the command does not start. */
const NO_SUITES = ['node_modules', 'close-on-signal', 'starter']
const SUITES = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !NO_SUITES.includes(entry.name))
  .map(({ name }) => name)

function example(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [`${folder}run.ts`, ...args], { encoding: 'utf8', timeout: 30_000 })
}

/** Names such as `trpc/orpc` of the files that suites measure. */
const measured = [frameworks, trpc, gateways, nexts, clusters, clustered, { dashboard, tail, upstreams }]
  .flatMap((subjects) => Object.values(subjects as Record<string, URL | { file: URL }>))
  .map((subject) => (subject instanceof URL ? subject : subject.file).pathname)
  .map((path) => /([^/]+\/[^/]+)\.ts$/.exec(path)![1]!)

/** It starts at once instead of a list: see test/browser/stack.test.ts. */
const WHOLE = 'stack'

/** Servers of each suite, and names such as `trpc/orpc` of all of them. */
const servers = Object.entries(allSuites).flatMap(([name, suite]) => (name === WHOLE ? [] : [[name, suite] as const]))
const listed = servers.flatMap(([suite, found]) => Object.keys(found).map((name) => `${suite}/${name}`))
/** Suites whose command ends with the list. Others start a tour: see test/live/examples.test.ts. */
const lists = servers.filter(([, suite]) => !('tour' in suite))

describe('the command example', () => {
  it('lists all suites', () => {
    const { status, stdout } = example()
    expect(status).toBe(0)
    const suites = stdout.split('\n\n')[0]!.split('\n')
    expect(suites.map((line) => line.split(':')[0]!).toSorted()).toEqual(SUITES.toSorted())
  })

  it.each(lists)('lists the servers of %s', (name, suite) => {
    const { status, stdout } = example(name)
    expect(status).toBe(0)
    const lines = stdout.split('\n\n')[0]!.split('\n')
    expect(lines.map((line) => line.split(' ')[0])).toEqual(Object.keys(suite))
  })

  it('lists every server that is measured', () => {
    expect(listed).toEqual(expect.arrayContaining(measured))
  })

  it('lists servers whose file is in the README of their suite', () => {
    const readmes = Object.fromEntries(
      SUITES.map((suite) => [suite, readFileSync(`${folder}${suite}/README.md`, 'utf8')]),
    )
    const missing = listed.filter((name) => {
      const [suite, server] = name.split('/') as [string, string]
      return !readmes[suite]!.includes(`\`${server}.ts\``)
    })
    expect(missing).toEqual([])
  })

  it.each([
    ['trcp', 'Unknown suite "trcp": expected one of http-frameworks, trpc, '],
    ['trpc/trpc', 'Unknown server "trpc/trpc": expected one of trpc-fastify, '],
    ['dashboard', 'Unknown suite "dashboard". Did you mean gateway/dashboard?'],
  ])('fails with one line that suggests names for %s', (name, message) => {
    const { status, stdout, stderr } = example(name)
    expect({ status, stdout, lines: stderr.split('\n').length }).toEqual({ status: 1, stdout: '', lines: 2 })
    expect(stderr).toContain(message)
  })
})

it('the README of the examples has a row for each suite', () => {
  const readme = readFileSync(`${folder}README.md`, 'utf8')
  expect([...readme.matchAll(/^\| \[`([\w-]+)`\]/gm)].map(([, name]) => name!).toSorted()).toEqual(SUITES.toSorted())
})
