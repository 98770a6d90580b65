// Where the figures come from: machine, versions, and method.

import type { Environment } from '../environment.ts'
import { counted } from '../format.ts'
import { disturbedText, lengthOfRound, processesText } from '../measured-rounds.ts'
import type { RaceResult } from '../result.ts'
import { html, type Markup } from './markup.ts'

export type Entry = readonly [name: string, value: string]

/** Machine and versions, with the entries of the measurement in between. */
export function conditionList(environment: Environment, entries: readonly Entry[]): Markup {
  const { cpu, cores, memory, system, arch, node, commit, ci, packages } = environment
  const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`)
  const all: Entry[] = [
    ['Machine', `${cpu}, ${counted(cores, 'core')}, ${Math.round(memory / 2 ** 30)} GiB${ci ? ', CI' : ''}`],
    ['System', `${system}, ${arch}`],
    ['Node', node],
    ...(commit === null ? [] : [['Commit', commit] satisfies Entry]),
    ...entries,
    ...(versions.length === 0 ? [] : [['Versions', versions.join(', ')] satisfies Entry]),
  ]
  const list = all.map(
    ([name, value]) =>
      html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`,
  )
  return html`<dl class="conditions">${list}</dl>`
}

/** Those of a race of servers. */
export function conditions(result: RaceResult): Markup {
  const { environment, load, rounds, cases } = result
  const poll = load.busyPoll === 0 ? '' : `, busy poll of ${load.busyPoll} µs`
  const disturbed = disturbedText(result)
  return conditionList(environment, [
    ['Requests', cases.map(({ name, method: verb, path }) => nameOf(name, `${verb} ${path}`)).join(', ')],
    ['Load', `${load.generator}, ${counted(load.connections, 'connection')}, pipelining ${load.pipelining}${poll}`],
    ['Rounds', `${rounds.length} of ${lengthOfRound(result)}${disturbed && `. ${disturbed}`}`],
    ...(rounds.length === 0 ? [] : [['Processes', processesText(result)] satisfies Entry]),
  ])
}

/** A case is often named after its request. */
function nameOf(name: string, request: string): string {
  return name === request ? name : `${name} (${request})`
}
