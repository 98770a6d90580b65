// Where the figures come from: machine, versions, method, and the command that repeats the race.

import type { RaceResult } from '../result.ts'
import { html, type Markup } from './markup.ts'

export function conditions(result: RaceResult): Markup {
  const { environment, load, method, rounds, discarded, cases } = result
  const { cpu, cores, memory, system, arch, node, commit, ci, packages } = environment
  const length = load.amount === null ? `${load.duration} ms` : `${load.amount} requests`
  const poll = load.busyPoll === 0 ? '' : `, busy poll of ${load.busyPoll} µs`
  const entries: [name: string, value: string][] = [
    ['Machine', `${cpu}, ${cores} cores, ${Math.round(memory / 2 ** 30)} GiB${ci ? ', CI' : ''}`],
    ['System', `${system}, ${arch}`],
    ['Node', node],
    ...(commit === null ? [] : [['Commit', commit] satisfies [string, string]]),
    ['Requests', cases.map(({ name, method: verb, path }) => nameOf(name, `${verb} ${path}`)).join(', ')],
    ['Load', `${load.generator}, ${load.connections} connections, pipelining ${load.pipelining}${poll}`],
    ['Rounds', `${rounds.length} of ${length}, ${discarded['foreign-cpu']} discarded because other programs were busy`],
    [
      'Processes',
      `${method.replicas} of each subject in each of ${method.stages} ${method.stages === 1 ? 'stage' : 'stages'}`,
    ],
    [
      'Versions',
      Object.entries(packages)
        .map(([name, version]) => `${name} ${version}`)
        .join(', '),
    ],
  ]
  const list = entries.map(
    ([name, value]) =>
      html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`,
  )
  return html`<dl class="conditions">${list}</dl>`
}

/** A case is often named after its request. */
function nameOf(name: string, request: string): string {
  return name === request ? name : `${name} (${request})`
}

/** The command that measures the same again. Headers, bodies and environments are no part of a result. */
export function repeatCommand({ subjects, cases, load, method }: RaceResult): string {
  const [first, ...others] = cases
  if (!first || others.length > 0) return 'npx speed-bounds run'
  const flags: [flag: string, value: string | number, standard: string | number][] = [
    ['--path', first.path, '/'],
    ['--method', first.method, 'GET'],
    ['--connections', load.connections, 50],
    ['--pipelining', load.pipelining, 1],
    ...(load.amount === null ? [] : [['--amount', load.amount, ''] satisfies [string, number, string]]),
    ['--duration', `${load.duration}ms`, '200ms'],
    ['--generator', load.generator, 'autocannon'],
    ['--busy-poll', `${load.busyPoll}us`, '0us'],
    ['--replicas', method.replicas, 5],
    ['--cycles', method.cycles, 6],
    ['--heats', method.heats, 'interleaved'],
    ['--idle', method.idle, 'paused'],
    ['--alpha', method.alpha, 0.01],
    ['--seed', method.seed, ''],
  ]
  const changed = flags.filter(([, value, standard]) => value !== standard)
  return [
    'npx speed-bounds race',
    ...subjectArguments(subjects),
    ...changed.map(([flag, value]) => `${flag} ${quoted(String(value))}`),
  ].join(' ')
}

/** Subjects for the command line. Those of `--node` are one for all versions. */
function subjectArguments(subjects: RaceResult['subjects']): string[] {
  const versions = subjects.map(({ name }) => /^(.*)@node-(\d+\.\d+\.\d+)$/.exec(name))
  const areVersions = versions.every((match) => match !== null)
  const named = subjects.map(({ name, command }, index) => {
    // The command line takes no other signs in a name.
    const safe = (versions[index]?.[1] ?? name).replaceAll(/[^\w.-]+/g, '-')
    return quoted(`${safe}=${command.replace(/^node (?=\S+$)/, '')}`)
  })
  const exact = versions.flatMap((match) => match?.[2] ?? [])
  return [...new Set(named), ...(areVersions ? [`--node ${[...new Set(exact)].join(',')}`] : [])]
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
