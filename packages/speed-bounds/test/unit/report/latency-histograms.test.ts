import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { expect, it } from 'vitest'
import { LATENCY_RANGE } from '../../../src/load/latency-range.ts'
import { LatencyHistograms } from '../../../src/report/latency-histograms.ts'

const histogramOf = (...microseconds: number[]): string => {
  const histogram = build({ ...LATENCY_RANGE, bitBucketSize: 64 })
  for (const value of microseconds) histogram.recordValue(value)
  return encodeIntoCompressedBase64(histogram)
}

const of = { subject: 'a', case: 'GET /' }

it('has the discarded rounds only if all rounds count', () => {
  const latencies = new LatencyHistograms()
  latencies.add(of, histogramOf(1000, 2000))
  latencies.add({ ...of, discarded: 'foreign-cpu' }, histogramOf(50_000))
  expect(latencies.latencyOf('a', 'GET /', false)).toMatchObject({ responses: 2 })
  expect(latencies.latencyOf('a', 'GET /', true)).toMatchObject({ responses: 3 })
})

it('knows the latency of a race whose rounds were all disturbed', () => {
  const latencies = new LatencyHistograms()
  latencies.add({ ...of, discarded: 'foreign-cpu' }, histogramOf(50_000))
  expect(latencies.latencyOf('a', 'GET /', true)?.percentiles.at(-1)?.[1]).toBeCloseTo(50, 0)
  expect(latencies.latencyOf('a', 'GET /', false)).toBeUndefined()
})
