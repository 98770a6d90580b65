import type { Call, FunctionTime, Profile } from '../../profile/profile.ts'
import { percentage } from '../format.ts'
import type { RaceResult } from '../result.ts'
import { dataTable } from './data-table.ts'
import { html, type Markup } from './markup.ts'
import { figure } from './plot.ts'

/** Rows of a table of functions. */
const MAX_ROWS = 25
/** Boxes of all graphs of a report. */
const MAX_CALLS = 800
/** Calls narrower than this share of the graph are invisible, and make the file large. */
const MIN_SHARE = 0.004

/** Flame graphs of the profiles, and where the first subject differs from each other one. */
export function profileSection({ profiles = [] }: RaceResult): Markup[] {
  const [first, ...others] = profiles
  if (!first) return []
  const graphs = profiles.map((profile) => flameGraph(profile, Math.min(400, MAX_CALLS / profiles.length)))
  const tables = others.length === 0 ? [functionTable(first)] : others.map((other) => differenceTable(first, other))
  return [html`<h3>Profile</h3>`, ...graphs, ...tables]
}

const KINDS = ['own', 'package', 'node', 'engine'] as const
const KIND_NAMES = { own: 'your code', package: 'packages', node: 'Node', engine: 'V8 and native code' }

/** Nested lists as boxes: each is as wide as its time, below the call that it comes from. */
function flameGraph({ subject, case: name, responses, tree, functions }: Profile, maxCalls: number): Markup {
  const [slowest] = functions
  const label = `Flame graph of ${subject}. ${slowest ? `Most self time: ${slowest.function}, ${time(slowest.self)} per request.` : ''} The table below has the functions.`
  const budget = { left: maxCalls }
  const keys = KINDS.map((kind) => html`<li class="${kind}">${KIND_NAMES[kind]}</li>`)
  return figure(
    `${subject}: ${time(tree.total)} per request`,
    `Self and called time of ${responses} responses to ${name}, in a round that does not count. A box is a call, below its caller. Sampling and other programs make it longer than the CPU per request.`,
    [
      html`<ul class="legend">
        ${keys}
      </ul>`,
      html`<div class="flame" role="img" aria-label="${label}">
        <ul>
          ${tree.children.map((call) => box(call, tree.total, budget))}
        </ul>
      </div>`,
    ],
  )
}

function box(call: Call, all: number, budget: { left: number }): Markup | undefined {
  if (call.total < all * MIN_SHARE || budget.left-- <= 0) return undefined
  const { function: name, file, total, children } = call
  const own = total - children.reduce((sum, child) => sum + child.total, 0)
  // Room for the call's own time, so that what it called is not wider than its share.
  const rest = own > all * MIN_SHARE && children.length > 0 ? html`<li style="flex:${share(own)}"></li>` : undefined
  const inner = children.map((child) => box(child, all, budget))
  const title = `${name}${file && ` (${file})`}: ${time(total)}, ${percentage(total / all)}`
  return html`<li style="flex:${share(total)}">
    <span class="${kindOf(file)}" title="${title}">${name}</span>${
      children.length > 0
        ? html`<ul>
            ${inner}${rest}
          </ul>`
        : undefined
    }
  </li>`
}

const share = (value: number): string => value.toFixed(2)

function kindOf(file: string): (typeof KINDS)[number] {
  if (file === '') return 'engine'
  if (file.startsWith('node:')) return 'node'
  return file.includes('/') && !/^(?:src|lib|dist|app|test|examples)\//.test(file) ? 'package' : 'own'
}

function functionTable({ subject, functions }: Profile): Markup {
  const rows = functions.slice(0, MAX_ROWS).map(
    (one) =>
      html`<tr>
        ${nameCells(one)}
        <td>${time(one.self)}</td>
      </tr>`,
  )
  return figure('Self time by function', `Per request of ${subject}.`, [table(['function', 'module', 'self'], rows)])
}

/** How the self time of a function differs between two profiles. */
export interface FunctionDifference {
  readonly function: string
  readonly file: string
  readonly first: number
  readonly other: number
}

/** Functions of both profiles, the largest difference first. */
export function differencesOf(first: Profile, other: Profile): FunctionDifference[] {
  const keyOf = ({ function: name, file }: FunctionTime): string => JSON.stringify([name, file])
  const times = new Map(other.functions.map((one) => [keyOf(one), one]))
  const ofFirst = first.functions.map((one) => {
    const same = times.get(keyOf(one))
    times.delete(keyOf(one))
    return { function: one.function, file: one.file, first: one.self, other: same?.self ?? 0 }
  })
  const ofOther = [...times.values()].map((one) => ({
    ...{ function: one.function, file: one.file },
    ...{ first: 0, other: one.self },
  }))
  return [...ofFirst, ...ofOther].toSorted((a, b) => Math.abs(b.other - b.first) - Math.abs(a.other - a.first))
}

function differenceTable(first: Profile, other: Profile): Markup {
  const rows = differencesOf(first, other)
    .slice(0, MAX_ROWS)
    .map((one) => {
      const difference = one.other - one.first
      const tone = difference > 0 ? 'worse' : 'better'
      const sign = difference > 0 ? '+' : '−'
      return html`<tr>
        ${nameCells(one)}
        <td>${time(one.first)}</td>
        <td>${time(one.other)}</td>
        <td class="tone ${tone}">${sign}${time(Math.abs(difference))}</td>
      </tr>`
    })
  return figure(
    `Self time: ${other.subject} compared with ${first.subject}`,
    `Microseconds per request, the largest differences first. + means that ${other.subject} takes longer.`,
    [table(['function', 'module', first.subject, other.subject, 'difference'], rows)],
  )
}

function nameCells({ function: name, file }: Pick<FunctionTime, 'function' | 'file'>): Markup {
  return html`<th scope="row"><code>${name}</code></th>
    <td class="module">${file || 'native'}</td>`
}

function table(head: readonly string[], rows: readonly Markup[]): Markup {
  const cells = head.map((title) => html`<th scope="col" class="${title === 'module' ? 'module' : ''}">${title}</th>`)
  return dataTable(cells, rows)
}

function time(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} µs`
}
