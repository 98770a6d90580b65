// The HTML report of speed-bounds, as people see it: wide and narrow, light and dark.

import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type RaceResult, toHtml } from 'speed-bounds'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { launchChromium } from './chromium.ts'

const browser = await launchChromium()
if (!browser) console.warn('NOT TESTED, as there is no browser: install Chrome, or set CHROMIUM_PATH')
afterAll(() => browser?.close())

const fixture = new URL('../../packages/speed-bounds/test/fixtures/result.json', import.meta.url)
const result = JSON.parse(readFileSync(fixture, 'utf8')) as RaceResult
const html = toHtml(result)

describe
  .runIf(browser)
  .each((['light', 'dark'] as const).flatMap((scheme) => [1280, 360].map((width) => ({ scheme, width }))))(
  'the report in $scheme, $width pixels wide',
  ({ scheme, width }) => {
    it('shows its parts without scripts, requests or a sideways scroll', async () => {
      const page = await browser!.newPage({ colorScheme: scheme, viewport: { width, height: 900 } })
      onTestFinished(() => page.close())
      const requests: string[] = []
      const complaints: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      page.on('console', (message) => complaints.push(message.text()))
      await page.setContent(html)
      expect(await page.locator('.card').count()).toBe(result.claims.length)
      for (const title of ['Ratios', 'Latency by percentile', 'Memory over time', 'Bottleneck', 'Conditions']) {
        expect(await page.getByRole('heading', { name: title }).isVisible()).toBe(true)
      }
      // As text, for the types of a page are none of Node's.
      const [scrolled, visible, background, ink, outside] = await page.evaluate<
        [number, number, string, string, number]
      >(`[
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
        getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.body).color,
        [...document.querySelectorAll('svg text')].filter((text) => {
          const { left, right } = text.getBoundingClientRect()
          return left < 0 || right > document.documentElement.clientWidth
        }).length,
      ]`)
      expect(scrolled).toBeLessThanOrEqual(visible)
      expect(outside).toBe(0)
      const brightness = (color: string): number => Number(/\d+/.exec(color)![0])
      expect(brightness(background) < brightness(ink)).toBe(scheme === 'dark')
      expect({ requests, complaints }).toEqual({ requests: [], complaints: [] })
      const folder = fileURLToPath(new URL('../../results/screenshots/', import.meta.url))
      mkdirSync(folder, { recursive: true })
      await page.screenshot({ path: `${folder}speed-bounds-${scheme}-${width}.png`, fullPage: true })
    })
  },
)
