// The HTML reports of speed-bounds, as people see them: wide and narrow, light and dark.

import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type FunctionRaceResult, type LoadReport, type RaceResult, toHtml } from 'speed-bounds'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { launchChromium } from './chromium.ts'

const browser = await launchChromium()
if (!browser) console.warn('NOT TESTED, as there is no browser: install Chrome, or set CHROMIUM_PATH')
afterAll(() => browser?.close())

function fixture(name: string): unknown {
  const file = new URL(`../../packages/speed-bounds/test/fixtures/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8'))
}

const race = fixture('result') as RaceResult
const load = fixture('load') as LoadReport
const functions = fixture('functions') as FunctionRaceResult[]

const REPORTS = [
  {
    ...{ name: 'race', html: toHtml(race), cards: race.claims.length },
    titles: ['Ratios', 'Latency by percentile', 'Memory over time', 'Bottleneck', 'Conditions'],
  },
  {
    // The first card has the ceiling.
    ...{ name: 'load', html: toHtml(load), cards: load.phases.length + 1 },
    titles: ['Rate', 'Latency by percentile', 'CPU per request by share of the ceiling', 'Bottleneck', 'Conditions'],
  },
  {
    ...{ name: 'functions', html: toHtml(functions), cards: functions.flatMap(({ claims }) => claims).length },
    titles: ['Ratios', 'Measurements', 'CPU per call, by process', 'Conditions', 'Repeat it'],
  },
]

describe
  .runIf(browser)
  .each(
    REPORTS.flatMap((report) =>
      (['light', 'dark'] as const).flatMap((scheme) => [1280, 360].map((width) => ({ ...report, scheme, width }))),
    ),
  )('the report of $name in $scheme, $width pixels wide', ({ name, html, cards, titles, scheme, width }) => {
  it('shows its parts without scripts, requests or a sideways scroll', async () => {
    const page = await browser!.newPage({ colorScheme: scheme, viewport: { width, height: 900 } })
    onTestFinished(() => page.close())
    const requests: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('console', (message) => complaints.push(message.text()))
    await page.setContent(html)
    expect(await page.locator('.card').count()).toBe(cards)
    for (const title of titles) {
      expect(await page.getByRole('heading', { name: title, exact: true }).first().isVisible()).toBe(true)
    }
    // As text, for the types of a page are none of Node's.
    const [scrolled, visible, background, ink, outside, overlapping] = await page.evaluate<
      [number, number, string, string, number, string[]]
    >(`[
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
      getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.body).color,
      [...document.querySelectorAll('svg text')].filter((text) => {
        const { left, right } = text.getBoundingClientRect()
        return left < 0 || right > document.documentElement.clientWidth
      }).length,
      [...document.querySelectorAll('svg.axis')].flatMap((axis) => {
        const labels = [...axis.querySelectorAll('text')].filter((label) => label.getBoundingClientRect().width > 0)
        return labels.slice(1).flatMap((label, index) =>
          label.getBoundingClientRect().left < labels[index].getBoundingClientRect().right ? label.textContent : [],
        )
      }),
    ]`)
    expect(scrolled).toBeLessThanOrEqual(visible)
    expect(outside).toBe(0)
    expect(overlapping).toEqual([])
    const brightness = (color: string): number => Number(/\d+/.exec(color)![0])
    expect(brightness(background) < brightness(ink)).toBe(scheme === 'dark')
    expect({ requests, complaints }).toEqual({ requests: [], complaints: [] })
    const folder = fileURLToPath(new URL('../../results/screenshots/', import.meta.url))
    mkdirSync(folder, { recursive: true })
    const path = `${folder}speed-bounds-${name}-${scheme}-${width}.png`
    // On a busy machine, Chromium now and then cannot capture a long page at the first try.
    await vi.waitFor(() => page.screenshot({ path, fullPage: true }), { timeout: 20_000 })
  })
})
