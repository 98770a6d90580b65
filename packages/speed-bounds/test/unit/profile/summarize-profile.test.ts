import { describe, expect, it } from 'vitest'
import type { Profile } from '../../../src/index.ts'
import { summarizeProfile, type V8Profile } from '../../../src/profile/summarize-profile.ts'
import { differencesOf } from '../../../src/report/html/profile-section.ts'

const node = (id: number, functionName: string, url: string, children: number[] = []): V8Profile['nodes'][number] => ({
  id,
  callFrame: { functionName, url, lineNumber: 9 },
  children,
})

const PROFILE: V8Profile = {
  nodes: [
    node(1, '(root)', '', [2, 3, 4]),
    node(2, '(idle)', ''),
    node(3, '(garbage collector)', ''),
    node(4, 'emit', 'node:events', [5, 6]),
    node(5, 'handler', 'file:///home/me/app/src/server.js', [7]),
    node(6, '', 'file:///home/me/app/node_modules/.pnpm/fastify@5.0.0/node_modules/fastify/lib/reply.js'),
    node(7, 'handler', 'file:///home/me/app/src/server.js'),
  ],
  samples: [2, 3, 4, 5, 6, 6, 7],
  timeDeltas: [9000, 100, 200, 300, 400, 500, -50],
}

const summary = (profile: V8Profile): Profile =>
  summarizeProfile(profile, { subject: 'a', testCase: 'GET /', responses: 10, cwd: '/home/me/app' })

describe('a profile', () => {
  it('has the self time of each function per request, without idle time', () => {
    expect(summary(PROFILE).functions).toEqual([
      { function: '(anonymous, line 10)', file: 'fastify/lib/reply.js', self: 90 },
      { function: 'handler', file: 'src/server.js', self: 30 },
      { function: 'emit', file: 'node:events', self: 20 },
      { function: '(garbage collector)', file: '', self: 10 },
    ])
  })

  it('has a tree of calls, the longest first', () => {
    const { tree } = summary(PROFILE)
    expect(tree.total).toBe(150)
    expect(tree.children.map((call) => [call.function, call.total])).toEqual([
      ['emit', 140],
      ['(garbage collector)', 10],
    ])
    expect(tree.children[0]!.children.map((call) => [call.function, call.total])).toEqual([
      ['(anonymous, line 10)', 90],
      ['handler', 30],
    ])
  })

  it('leaves out small calls, whose time stays in the callers', () => {
    const samples = [...Array.from({ length: 1000 }, () => 5), 7]
    const { tree } = summary({ ...PROFILE, samples, timeDeltas: samples.map(() => 10) })
    expect(tree.children).toMatchObject([
      { total: 1001, children: [{ function: 'handler', total: 1001, children: [] }] },
    ])
  })

  it('contains no path of the machine', () => {
    const urls = ['/opt/other/x.js', 'file:///home/else/y.js', 'wasm://wasm/123', 'evalmachine.<anonymous>']
    const { functions } = summary({
      nodes: [node(1, '(root)', '', [2, 3, 4, 5]), ...urls.map((url, index) => node(index + 2, 'f', url))],
      samples: [2, 3, 4, 5],
      timeDeltas: [1, 1, 1, 1],
    })
    expect(functions.map(({ file }) => file).toSorted()).toEqual(['(other)', 'x.js', 'y.js'])
  })

  it('is empty without samples', () => {
    expect(summary({ nodes: [] })).toMatchObject({ functions: [], tree: { total: 0, children: [] } })
  })
})

it('the difference of two profiles has each function once, the largest difference first', () => {
  const profile = (functions: Profile['functions']): Profile => ({ ...summary({ nodes: [] }), functions })
  const first = profile([
    { function: 'same', file: 'x', self: 5 },
    { function: 'gone', file: 'x', self: 3 },
  ])
  const other = profile([
    { function: 'new', file: 'x', self: 9 },
    { function: 'same', file: 'x', self: 6 },
    { function: 'same', file: 'y', self: 0.5 },
  ])
  expect(differencesOf(first, other)).toEqual([
    { function: 'new', file: 'x', first: 0, other: 9 },
    { function: 'gone', file: 'x', first: 3, other: 0 },
    { function: 'same', file: 'x', first: 5, other: 6 },
    { function: 'same', file: 'y', first: 0, other: 0.5 },
  ])
})
