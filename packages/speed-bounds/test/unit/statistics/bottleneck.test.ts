import { describe, expect, it } from 'vitest'
import { resolveClaim } from '../../../src/options/resolve-claim.ts'
import { resolveRace } from '../../../src/options/resolve.ts'
import type { Metric } from '../../../src/options/types.ts'
import { type Bottleneck, bottleneckOf } from '../../../src/statistics/measured-round.ts'
import { type Estimate, judge, type Verdict } from '../../../src/statistics/verdict.ts'
import { syntheticRound } from '../../helpers/synthetic-race.ts'

describe('the bottleneck of a round', () => {
  it.each<[server: number, generator: number, Bottleneck]>([
    [1, 0.4, 'server'],
    [0.97, 0.96, 'server'],
    [0.85, 0.84, 'server'],
    [0.85, 0.9, 'generator'],
    [0.5, 1, 'generator'],
    // With too few cores, both wait for each other.
    [1, 1, 'generator'],
    [0.79, 0.79, 'latency'],
    [0.1, 0.05, 'latency'],
    [0.8, 0.1, 'server'],
  ])('with the server at %d and the generator at %d is the %s', (server, generator, expected) => {
    expect(bottleneckOf(server, generator)).toBe(expected)
  })
})

/** `b` costs twice as much as `a`. The generator limited this many of the first 5 rounds of `a`. */
function judgeWith(limited: number, metric?: Metric): [Verdict, readonly Estimate[]] {
  const rounds = ['a', 'b'].flatMap((subject) =>
    Array.from({ length: 25 }, (_, index) => {
      const [cycle, replica] = [Math.floor(index / 5) + 1, (index % 5) + 1]
      const factor = subject === 'a' ? 1 : 2
      const bottleneck = subject === 'a' && replica === 1 && cycle <= limited ? 'generator' : 'server'
      const costs = {
        cpu: 20 * factor,
        throughput: 5000 / factor,
        p99: 3 * factor,
        rss: 1e8 * factor,
        peakRss: 2e8 * factor,
      }
      return syntheticRound({ subject, replica, cycle, bottleneck, ...costs })
    }),
  )
  const options = resolveRace({ a: './a.ts', b: './b.ts' }, { path: '/' })
  const { verdict, estimates } = judge(resolveClaim(options, 'b', { atLeast: 1.5, ...(metric && { metric }) }), rounds)
  return [verdict, estimates]
}

describe('a generator that limited more than a fifth of the rounds of a process', () => {
  it.each(['throughput', 'p99'] as const)('leaves a claim on %s alone inconclusive', (metric) => {
    expect(judgeWith(1, metric)).toMatchObject(['holds', [{ generatorBound: false, verdict: 'holds' }]])
    expect(judgeWith(2, metric)).toMatchObject(['inconclusive', [{ generatorBound: true, verdict: 'holds' }]])
  })

  it.each(['cpu', 'rss', 'peakRss'] as const)('does not affect a claim on %s', (metric) => {
    expect(judgeWith(5, metric)).toMatchObject(['holds', [{ generatorBound: false }]])
  })

  it('lets CPU decide instead of throughput', () => {
    expect(judgeWith(5)).toMatchObject(['holds', [{ generatorBound: false }, { generatorBound: true }]])
  })
})
