// The command that measures the same again. Headers, bodies and environments are no part of a result.

import type { FunctionRaceResult } from '../../functions/function-result.ts'
import type { LoadReport } from '../../load-test/load-report.ts'
import type { RaceResult } from '../result.ts'

/** A flag, its value, and its default, which needs no flag. */
type Flag = readonly [flag: string, value: string | number, standard: string | number]

export function repeatCommand({ subjects, cases, load, method, claims }: RaceResult): string {
  const [first, ...others] = cases
  if (!first || others.length > 0) return 'npx speed-bounds run'
  // Otherwise the turn is a whole round, whatever its flag.
  const alternates = load.generator === 'autocannon' && load.amount === null && method.idle === 'paused'
  return commandOf('race', subjectArguments(subjects), [
    ...claimFlags([{ names: subjects.map(({ name }) => name), claims }]),
    ['--path', first.path, '/'],
    ['--method', first.method, 'GET'],
    ['--connections', load.connections, 50],
    ['--pipelining', load.pipelining, 1],
    ...(load.amount === null ? [] : [['--amount', load.amount, ''] satisfies Flag]),
    ['--duration', `${load.duration}ms`, '200ms'],
    ['--generator', load.generator, 'autocannon'],
    ['--busy-poll', `${load.busyPoll}us`, '0us'],
    ['--replicas', method.replicas, 5],
    ['--cycles', method.cycles, 8],
    ['--heats', method.heats, 'interleaved'],
    ...(alternates ? [['--turn', `${method.turn}ms`, `${Math.min(200, load.duration)}ms`] satisfies Flag] : []),
    ['--idle', method.idle, 'paused'],
    ['--alpha', method.alpha, 0.01],
    ['--seed', method.seed, ''],
  ])
}

export function repeatLoadCommand({ subject, request, load, phases }: LoadReport): string {
  const script = scriptOf(subject)
  const server = /^https?:\/\//.test(subject) || script !== subject ? script : `server=${subject}`
  const plan: Flag[] =
    load.kind === 'rate'
      ? [
          ['--rate', phases.map(rateText).join(','), '10%,50%,90%'],
          ['--duration', `${phases[0]?.duration ?? 10_000}ms`, '10000ms'],
          ['--connections', load.connections ?? 1000, 1000],
        ]
      : [
          ['--stages', stagesText(phases), ''],
          ['--pause', `${load.pause ?? 0}ms`, '0ms'],
        ]
  const command = commandOf(
    'load',
    [quoted(server)],
    [
      ...plan,
      ['--protocol', request.protocol, 'http1'],
      ['--path', request.path, '/'],
      ['--method', request.method, 'GET'],
      ['--warm-up', `${load.warmUp}ms`, '2000ms'],
      ['--request-timeout', `${load.requestTimeout}ms`, '10000ms'],
    ],
  )
  return load.keepAlive ? command : `${command} --no-keep-alive`
}

/** Undefined if a race has inline functions, which no command finds. */
export function repeatBenchCommand(results: readonly FunctionRaceResult[]): string | undefined {
  const files = [...new Set(results.map(({ file }) => file))]
  const [first] = results
  if (!first || !files.every((file) => file !== null)) return undefined
  const { method } = first
  const seeds = new Set(results.map((result) => result.method.seed))
  return commandOf('bench', files.map(quoted), [
    ...claimFlags(results.map(({ functions, claims }) => ({ names: functions.map(({ name }) => name), claims }))),
    ['--replicas', method.replicas, 48],
    ['--warm-up', `${method.warmUp}ms`, '250ms'],
    ['--duration', `${method.duration}ms`, '250ms'],
    ['--budget', `${method.budget}ms`, '30000ms'],
    ['--alpha', method.alpha, 0.01],
    ['--max-foreign-cpu', method.maxForeignCpu, 1],
    // Each group has its own random seed, unless a flag has set it.
    ...(seeds.size === 1 ? [['--seed', method.seed, ''] satisfies Flag] : []),
  ])
}

/** Names of subjects or functions, and the claims about them. */
interface Claimed {
  readonly names: readonly string[]
  readonly claims: readonly Pick<RaceResult['claims'][number], 'contender' | 'over' | 'atLeast' | 'estimates'>[]
}

/** The flags of the claims, if these compare the first name with each of the others. Other claims are in a file. */
function claimFlags(races: readonly Claimed[]): Flag[] {
  const claims = races.flatMap((race) => race.claims)
  const bounds = new Set(claims.map(({ atLeast }) => atLeast))
  const areUsual = races.every(({ names: [first, ...others], claims: own }) => {
    const over = own.map((claim) => claim.over)
    return own.every(({ contender }) => contender === first) && over.join('\n') === others.join('\n')
  })
  if (!areUsual || bounds.size !== 1) return []
  const metrics = new Set(claims.flatMap(({ estimates }) => estimates.map(({ metric }) => metric)))
  const [metric] = metrics
  return [['--at-least', [...bounds][0]!, 1], ...(metrics.size === 1 ? [['--metric', metric!, ''] satisfies Flag] : [])]
}

/** `2000`, `50%` or `0..2000` */
function rateText({ load }: LoadReport['phases'][number]): string {
  return load.replaceAll('/s', '').replace(' to ', '..')
}

/** `10000ms:50`, with a stage without length where the number of users has jumped. */
function stagesText(phases: LoadReport['phases']): string {
  let users = 0
  return phases
    .flatMap(({ load, duration }) => {
      const [from = 0, to = from] = (load.match(/\d+/g) ?? []).map(Number)
      const jump = from === users ? [] : [`0ms:${from}`]
      users = to
      return [...jump, `${Number(duration.toFixed(3))}ms:${to}`]
    })
    .join(',')
}

function commandOf(name: string, args: readonly string[], flags: readonly Flag[]): string {
  const changed = flags.filter(([, value, standard]) => value !== standard)
  return [
    `npx speed-bounds ${name}`,
    ...args,
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
    return quoted(`${safe}=${scriptOf(command)}`)
  })
  const exact = versions.flatMap((match) => match?.[2] ?? [])
  return [...new Set(named), ...(areVersions ? [`--node ${[...new Set(exact)].join(',')}`] : [])]
}

/** A script is a subject without `node`. */
function scriptOf(command: string): string {
  return command.replace(/^node (?=\S+$)/, '')
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
