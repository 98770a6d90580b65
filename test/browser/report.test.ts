// The report of `test:perf`, as people see it: wide and narrow, light and dark.

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { RaceResult, Summary } from 'speed-bounds'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { htmlReport, type ReportedRace } from '../perf/html-report.ts'
import { launchChromium } from './chromium.ts'

const browser = await launchChromium()
if (!browser) console.warn('NOT TESTED, as there is no browser: install Chrome, or set CHROMIUM_PATH')
afterAll(() => browser?.close())

const summary = (subject: string, cpu: number): Summary => ({
  subject,
  case: 'hello',
  mean: { cpu, throughput: 1e6 / cpu, p50: 2.1, p90: 4, p99: 9.5, rss: 9e7, peakRss: 1e8 },
  replicas: [],
  rounds: 8,
  discarded: 0,
  bottleneck: { server: 7, generator: 1, latency: 0 },
  utilization: 0.97,
})

type Estimate = RaceResult['claims'][number]['estimates'][number]
const estimate = (ratio: number, low: number, high: number): Estimate => ({
  ...{ metric: 'cpu', ratio, low, high, confidence: 0.99, replicas: [4, 4], rounds: 16, discarded: 0 },
  ...{ generatorBound: false, disturbed: false, verdict: 'holds' },
})

const claim = { contender: 'trpc-fastify', over: 'official-adapter', case: 'hello', atLeast: 3, alpha: 0.01 }
const race: ReportedRace = {
  suite: 'headlines',
  title: 'tRPC <over> the official adapter',
  result: {
    version: 2,
    startedAt: '2026-11-27T00:00:00.000Z',
    finishedAt: '2026-11-27T00:01:00.000Z',
    environment: {
      ...{ cpu: 'AMD EPYC', cores: 2, memory: 25_276_502_016, system: 'Linux 6.18', arch: 'x64', node: 'v24.21.0' },
      ...{ commit: 'ef62bca', ci: false, packages: { fastify: '5.12.8' } },
    },
    subjects: [],
    cases: [{ name: 'hello', method: 'GET', path: '/trpc/hello', status: 200 }],
    load: { generator: 'autocannon', busyPoll: 60, connections: 100, pipelining: 1, duration: 400, amount: null },
    method: {
      ...{ replicas: 4, cycles: 2, idle: 'paused', heats: 'interleaved', turn: 200, alpha: 0.01, seed: 1, stages: 1 },
      ...{ looks: 6, maxForeignCpu: 1 },
    },
    summaries: [summary('official-adapter', 46), summary('trpc-fastify', 11)],
    ratios: [],
    claims: [
      { ...claim, verdict: 'holds', estimates: [estimate(4.2, 3.6, 4.9)] },
      { ...claim, verdict: 'broken', estimates: [estimate(2.1, 1.9, 2.3)] },
      { ...claim, verdict: 'inconclusive', estimates: [] },
    ],
    discarded: { 'foreign-cpu': 0 },
  },
  comparisons: [
    { title: 'Published then, measured now', head: ['system', 'then'], rows: [['fastify', '105,283']], legend: [] },
  ],
}

const html = htmlReport([race], { command: 'npx -y pnpm@12 test:perf', minutes: 6.4 })

it('loads nothing from elsewhere and escapes names', () => {
  expect(html).not.toMatch(/<script|<link|src=|https?:/)
  expect(html).toContain('tRPC &lt;over&gt; the official adapter')
})

describe
  .runIf(browser)
  .each((['light', 'dark'] as const).flatMap((scheme) => [1280, 360].map((width) => ({ scheme, width }))))(
  'the report in $scheme, $width pixels wide',
  ({ scheme, width }) => {
    it('shows each claim with its verdict and has no sideways scroll', async () => {
      const page = await browser!.newPage({ colorScheme: scheme, viewport: { width, height: 900 } })
      onTestFinished(() => page.close())
      await page.setContent(html)
      expect(await page.locator('.card').count()).toBe(3)
      expect(await page.locator('.verdict').allInnerTexts()).toEqual(['✓ holds', '✗ broken', '? inconclusive'])
      expect(await page.locator('svg').count()).toBe(2)
      for (const text of ['4.2x', '46 µs', 'AMD EPYC', '105,283']) {
        expect(await page.getByText(text).first().isVisible()).toBe(true)
      }
      // As text, for the types of a page are none of Node's.
      const [scrolled, visible, background, ink] = await page.evaluate<[number, number, string, string]>(`[
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
      getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.body).color,
    ]`)
      expect(scrolled).toBeLessThanOrEqual(visible)
      const brightness = (color: string): number => Number(/\d+/.exec(color)![0])
      const isDark = brightness(background) < brightness(ink)
      expect(isDark).toBe(scheme === 'dark')
      const folder = fileURLToPath(new URL('../../results/screenshots/', import.meta.url))
      mkdirSync(folder, { recursive: true })
      await page.screenshot({ path: `${folder}report-${scheme}-${width}.png`, fullPage: true })
    })
  },
)
