// The documentation site as a reader sees it: built from the repository, opened on a phone and on a desktop.

import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fastifyStatic from '@fastify/static'
import fastify from 'fastify'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from './chromium.ts'

const site = fileURLToPath(new URL('../../docs/site/', import.meta.url))
const run = promisify(execFile)
const app = fastify()

let browser: Browser | undefined
let folder: string
let origin: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'documentation-site-'))
  // A dead link between two pages fails the build.
  const vitepress = join(site, 'node_modules/vitepress/bin/vitepress.js')
  await run(process.execPath, [vitepress, 'build', site, '--outDir', folder], {
    env: { ...process.env, GITHUB_REPOSITORY: 'example/fastify-factories' },
  })
  app.register(fastifyStatic, { root: folder })
  origin = await app.listen({ port: 0 })
  browser = await launchChromium()
}, 300_000)

afterAll(async () => {
  await browser?.close()
  await app.close()
  await rm(folder, { recursive: true, force: true })
})

/** Opens a page of the site, and collects errors of its console and links that lead nowhere. */
async function open(
  path: string,
  width: number,
  colorScheme: 'light' | 'dark',
): Promise<{ page: Page; errors: string[] }> {
  const page = await browser!.newPage({ viewport: { width, height: 800 }, colorScheme })
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('response', (response) => response.status() >= 400 && errors.push(`${response.status()} ${response.url()}`))
  await page.goto(`${origin}${path}`, { waitUntil: 'load' })
  return { page, errors }
}

const PAGES = [
  '/',
  '/packages/trpc-fastify/',
  '/packages/clustered-server/docs/options.html',
  '/docs/architecture.html',
]

describe.each([
  { device: 'a phone', width: 390 },
  { device: 'a desktop', width: 1280 },
])('on $device', ({ width }) => {
  it.each(PAGES)('%s has no error and does not scroll sideways', async (path) => {
    for (const scheme of ['light', 'dark'] as const) {
      const { page, errors } = await open(path, width, scheme)
      expect(await page.locator('h1').count()).toBe(1)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      expect(errors).toEqual([])
      await page.close()
    }
  })
})

it('has no page with an error, or that scrolls sideways', { timeout: 300_000 }, async () => {
  const context = await browser!.newContext()
  // VitePress fetches the pages of all visible links otherwise.
  await context.addInitScript("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")
  const page = await context.newPage()
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(`${page.url()}: ${message.text()}`))
  page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.message}`))
  const paths = globSync('**/*.html', { cwd: folder, exclude: ['404.html'] })
  for (const path of paths) {
    await page.goto(`${origin}/${path}`, { waitUntil: 'load' })
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const needed = Number(await page.evaluate('document.documentElement.scrollWidth'))
      if (needed > width) errors.push(`${path} needs ${needed} px of ${width}`)
    }
  }
  await context.close()
  expect(errors).toEqual([])
  expect(paths.length).toBeGreaterThan(60)
})

it('draws the architecture as SVG', async () => {
  const { page } = await open('/docs/architecture.html', 1280, 'light')
  const drawings = await page.locator('figure.drawing svg').all()
  const boxes = await Promise.all(drawings.map((drawing) => drawing.boundingBox()))
  expect(boxes.length).toBeGreaterThan(4)
  expect(Math.min(...boxes.map((box) => box?.width ?? 0))).toBeGreaterThan(100)
  await page.close()
})

it('finds pages by a word of their text', async () => {
  const { page } = await open('/', 1280, 'light')
  await page.locator('.VPNavBarSearch button').click()
  await page.locator('.VPLocalSearchBox input').fill('sticky Socket.IO')
  const first = page.locator('.VPLocalSearchBox .result').first()
  await first.waitFor()
  expect(await first.getAttribute('href')).toContain('/packages/clustered-server/')
  expect(await first.textContent()).toContain('clustered-server: ')
  await page.close()
})

it('names the package in the title of its pages', async () => {
  const { page } = await open('/packages/clustered-server/docs/options.html', 1280, 'light')
  expect(await page.title()).toBe('Options · clustered-server | Fastify Factories')
  expect(await page.locator('h1').textContent()).toMatch(/^Options/)
  await page.close()
})

it('has the target of each link', async () => {
  const paths = globSync('**/*.html', { cwd: folder })
  const pages = await Promise.all(paths.map(async (path) => [`/${path}`, await contentOf(path)] as const))
  const targets = new Map(pages.map(([path, { ids }]) => [path, ids]))
  const dead = pages.flatMap(([path, { links }]) => links.filter((link) => !leadsSomewhere(link, path, targets)))
  expect(dead).toEqual([])
  expect(pages.length).toBeGreaterThan(60)
})

async function contentOf(path: string): Promise<{ ids: Set<string>; links: string[] }> {
  const html = await readFile(join(folder, path), 'utf8')
  const all = (pattern: RegExp): string[] => [...html.matchAll(pattern)].map(([, value = '']) => value)
  return { ids: new Set(all(/ id="([^"]+)"/g)), links: all(/<a [^>]*href="([^"]*)"/g) }
}

function leadsSomewhere(link: string, from: string, targets: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const { origin: host, pathname, hash } = new URL(link.replaceAll('&amp;', '&'), new URL(from, origin))
  if (host !== origin) return true
  const ids = targets.get(pathname.replace(/\/$/, '/index.html'))
  return ids !== undefined && (hash === '' || ids.has(decodeURIComponent(hash.slice(1))))
}
