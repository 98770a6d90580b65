// From the samples of V8 to time per request.

import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Call, FunctionTime, Profile } from './profile.ts'

/** The parts of a CPU profile of V8 that are used. */
export interface V8Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
    readonly children?: readonly number[]
  }[]
  readonly samples?: readonly number[]
  /** Microseconds between two samples. */
  readonly timeDeltas?: readonly number[]
}

/** Smaller shares of the whole time are left out. */
const MIN_SHARE = { FUNCTION: 0.001, CALL: 0.003 }
const MAX_DEPTH = 48

type Node = V8Profile['nodes'][number]
type Times = ReadonlyMap<number, number>

export function summarizeProfile(
  { nodes, samples = [], timeDeltas = [] }: V8Profile,
  { subject, testCase, responses, cwd }: { subject: string; testCase: string; responses: number; cwd: string },
): Profile {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id))
  const self = new Map<number, number>()
  for (const [index, id] of samples.entries()) {
    if (!idle.has(id)) self.set(id, (self.get(id) ?? 0) + Math.max(0, timeDeltas[index] ?? 0) / responses)
  }
  const all = [...self.values()].reduce((sum, time) => sum + time, 0)
  const [root] = nodes
  const tree =
    root && callOf(root, new Map(nodes.map((node) => [node.id, node])), self, { least: all * MIN_SHARE.CALL, cwd })
  return {
    subject,
    case: testCase,
    responses,
    functions: functionsOf(nodes, self, cwd).filter((one) => one.self >= all * MIN_SHARE.FUNCTION),
    tree: tree ?? { function: '(root)', file: '', total: 0, children: [] },
  }
}

function functionsOf(nodes: readonly Node[], self: Times, cwd: string): FunctionTime[] {
  const times = Map.groupBy(nodes, (node) => {
    const { function: name, file } = namesOf(node, cwd)
    return JSON.stringify([name, file])
  })
  return [...times.values()]
    .map((same) => ({
      ...namesOf(same[0]!, cwd),
      self: same.reduce((sum, { id }) => sum + (self.get(id) ?? 0), 0),
    }))
    .filter((one) => one.self > 0)
    .toSorted((a, b) => b.self - a.self)
}

function callOf(
  node: Node,
  nodes: ReadonlyMap<number, Node>,
  self: Times,
  { least, cwd }: { least: number; cwd: string },
  depth = 0,
): Call {
  const children = (node.children ?? []).map((id) => callOf(nodes.get(id)!, nodes, self, { least, cwd }, depth + 1))
  const total = children.reduce((sum, child) => sum + child.total, self.get(node.id) ?? 0)
  const kept = depth < MAX_DEPTH ? children.filter((child) => child.total >= least && child.total > 0) : []
  return { ...namesOf(node, cwd), total, children: kept.toSorted((a, b) => b.total - a.total) }
}

function namesOf({ callFrame }: Node, cwd: string): { function: string; file: string } {
  const { functionName, url, lineNumber } = callFrame
  const file = fileOf(url, cwd)
  // Anonymous functions of a file differ by their line.
  return { function: functionName || `(anonymous, line ${lineNumber + 1})`, file }
}

/** A path that says nothing about the machine: from the last package, or from the folder of the subject. */
function fileOf(url: string, cwd: string): string {
  if (!url.startsWith('file:') && !url.startsWith('/')) return url.startsWith('node:') || url === '' ? url : '(other)'
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  const [inPackage, ...outer] = path.replaceAll('\\', '/').split('/node_modules/').toReversed()
  const inside = outer.length > 0 ? inPackage! : relative(cwd, path).replaceAll('\\', '/')
  return inside.startsWith('..') || inside.startsWith('/') ? inside.split('/').at(-1)! : inside
}
