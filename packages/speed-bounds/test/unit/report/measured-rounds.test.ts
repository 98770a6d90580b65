import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { toHtml, toMarkdown, toTerminal } from '../../../src/index.ts'
import { disturbedText, lengthOfRound, processesText } from '../../../src/report/measured-rounds.ts'
import type { RaceResult, Summary } from '../../../src/report/result.ts'
import type { Round } from '../../../src/statistics/measured-round.ts'
import { recorded } from '../../helpers/recorded-result.ts'

const result = recorded()

interface Disturbed {
  readonly disturbed?: number
  readonly leftOut?: number
  readonly maxForeignCpu?: number
}

/** Rounds of two subjects with the given processes, of which the first ones are disturbed. */
function measured(
  processes: readonly number[],
  { disturbed = 0, leftOut = 0, maxForeignCpu = 1 }: Disturbed = {},
): RaceResult {
  const rounds = processes
    .flatMap((replica, index) => [
      { subject: 'a', replica, stage: index < 5 ? 1 : 2 },
      { subject: 'b', replica, stage: index < 5 ? 1 : 2 },
    ])
    .map((one, index) => ({ ...one, ...(index < disturbed && { discarded: 'foreign-cpu' as const }) }) as Round)
  const summaries = [{ discarded: leftOut }, { discarded: 0 }] as Summary[]
  return { ...result, method: { ...result.method, maxForeignCpu }, rounds, summaries }
}

describe('processes', () => {
  it('are those that ran, not those that could run', () => {
    expect(processesText(measured([1, 1, 2, 2]))).toBe('2 processes of each subject in 1 stage')
    expect(processesText(measured([1]))).toBe('1 process of each subject in 1 stage')
  })

  it('are counted over all stages', () => {
    expect(processesText(measured([1, 2, 3, 4, 5, 6, 7]))).toBe('7 processes of each subject in 2 stages')
  })

  it('are a range if a later stage measured some subjects only', () => {
    const { rounds } = measured([1, 2, 3, 4, 5, 6, 7])
    const fewer = rounds.filter(({ subject, stage }) => subject === 'a' || stage === 1)
    expect(processesText({ rounds: fewer })).toBe('5 to 7 processes of a subject in 2 stages')
  })
})

describe('disturbed rounds', () => {
  it('name the hypervisor if other guests took the CPU', () => {
    const { rounds, ...rest } = measured([1, 2, 3, 4, 5], { disturbed: 2, leftOut: 2 })
    const stolen = rounds.map((round) => ({ ...round, foreignCpu: 0.4, stolenCpu: round.discarded ? 0.4 : 0 }))
    expect(disturbedText({ ...rest, rounds: stolen })).toBe(
      'Other programs took more than 1 core, or other guests of the hypervisor more than 0.3, in 2 of 10 rounds, which do not count.',
    )
  })

  it.each<[name: string, options: Disturbed, expected: string]>([
    ['are not mentioned if there are none', {}, ''],
    [
      'do not count if enough others remain',
      { disturbed: 3, leftOut: 3 },
      'Other programs took more than 1 core in 3 of 10 rounds, which do not count.',
    ],
    [
      'do not count: a single one',
      { disturbed: 1, leftOut: 1, maxForeignCpu: 0.5 },
      'Other programs took more than 0.5 cores in 1 of 10 rounds, which does not count.',
    ],
    [
      'count if too few others remain',
      { disturbed: 6 },
      'Other programs took more than 1 core in 6 of 10 rounds. All rounds count, because too few would remain without them.',
    ],
    [
      'count if there are no others',
      { disturbed: 10 },
      'Other programs took more than 1 core in every round, so all rounds count.',
    ],
    [
      'count for some of the subjects',
      { disturbed: 6, leftOut: 1 },
      'Other programs took more than 1 core in 6 of 10 rounds. Of these, 1 does not count. The others count, because too few would remain without them.',
    ],
  ])('%s', (_name, options, expected) => {
    expect(disturbedText(measured([1, 2, 3, 4, 5], options))).toBe(expected)
  })
})

it('a round lasts for a time or for an amount of requests', () => {
  expect(lengthOfRound({ load: { ...result.load, duration: 200, amount: null } })).toBe('200 ms')
  expect(lengthOfRound({ load: { ...result.load, amount: 1 } })).toBe('1 request')
})

it.each([
  [200, '1000 ms'],
  [1000, '1000 ms'],
  [1500, '2000 ms'],
])('a round of %i ms lasts for whole seconds with wrk', (duration, length) => {
  expect(lengthOfRound({ load: { ...result.load, generator: 'wrk', duration, amount: null } })).toBe(length)
})

describe('a result', () => {
  const early = {
    ...result,
    rounds: result.rounds.slice(0, 1).map((round) => ({ ...round, discarded: 'foreign-cpu' as const })),
    method: { ...result.method, maxForeignCpu: 1, stages: 1, seed: 7 },
  }

  it.each([
    ['a terminal', (text: typeof early) => stripVTControlCharacters(toTerminal(text))],
    ['Markdown', toMarkdown],
  ])('tells in %s what was measured', (_place, view) => {
    expect(view(early)).toContain(
      'pipelining 1, seed 7. 1 round of 200 ms, 1 process of each subject in 1 stage. Other programs took more than 1 core in every round, so all rounds count.',
    )
    expect(view({ ...early, rounds: [] })).toMatch(/seed 7\. 0 rounds of 200 ms\.\s+AMD/)
  })

  it('tells it in HTML', () => {
    const text = toHtml(early).replaceAll(/<[^>]+>/g, ' ')
    expect(text).toMatch(/Rounds\s+1 of 200 ms\. Other programs took more than 1 core in every round/)
    expect(text).toMatch(/Processes\s+1 process of each subject in 1 stage/)
    expect(toHtml({ ...early, rounds: [] })).not.toContain('<dt>Processes</dt>')
  })
})
