import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
}

const read = (path: string): string =>
  readFileSync(new URL(`../../packages/speed-bounds/${path}`, import.meta.url), 'utf8')
const [, text] = /```yaml\n([\s\S]*?)```/.exec(read('docs/compare.md'))!
const workflow = parse(text!) as {
  on: unknown
  permissions: unknown
  jobs: { compare: { permissions: unknown; steps: Step[] } }
}
const action = parse(read('action/action.yml')) as { inputs: Record<string, unknown>; runs: { main: string } }
const { permissions, steps } = workflow.jobs.compare

it('the workflow of docs/compare.md may write pull requests and nothing else', () => {
  expect(workflow.on).toBe('pull_request')
  expect([workflow.permissions, permissions]).toEqual([
    { contents: 'read' },
    { contents: 'read', 'pull-requests': 'write' },
  ])
})

it('pins the actions of others, and leaves no credentials in the checkout', () => {
  const uses = [...text!.matchAll(/uses: (.*)$/gm)].map(([, name]) => name!).filter((name) => !name.startsWith('./'))
  expect(uses.filter((name) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(name))).toEqual([])
  expect(steps[0]!.with).toMatchObject({ 'persist-credentials': false })
})

it('gives scripts no text that others write', () => {
  expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([])
})

it('sets inputs that the action has, each of which has a row', () => {
  const inputs = Object.keys(action.inputs)
  const used = steps.find(({ uses }) => uses === './node_modules/speed-bounds/action')!.with!
  expect(Object.keys(used).filter((name) => !inputs.includes(name))).toEqual([])
  const rows = [...read('docs/compare.md').matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, name]) => name)
  expect(rows.filter((name) => inputs.includes(name!))).toEqual(inputs)
})
