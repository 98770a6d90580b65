// What a user of the app in examples/next sees in Chromium, served by next-on-fastify.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { build, BUILD_TIMEOUT, copiesOfBuild, subjects } from '../suites/next.ts'
import { launchChromium } from './chromium.ts'

const browser = await launchChromium()
if (!browser) console.warn('NOT TESTED, as there is no browser: install Chrome, or set CHROMIUM_PATH')
afterAll(() => browser?.close())

const patient = { timeout: 60_000 }

describe.skipIf(!browser)('the app of examples/next', () => {
  let origin: string
  let logged = ''
  let remove: () => Promise<void>
  beforeAll(async () => {
    await build()
    const copies = await copiesOfBuild('base', 1)
    remove = copies.remove
    const { file, env } = subjects['next-on-fastify']
    const started = await startSubject(file, { env: { ...env, NEXT_DIR: copies.dirs[0]! } })
    started.child.stderr.on('data', (text) => (logged += String(text)))
    origin = started.origin
    if (origin === '') throw new Error('The server has ended')
  }, BUILD_TIMEOUT)
  afterAll(async () => {
    endSubjects()
    await remove?.()
  })

  async function open(path: string): Promise<{ page: Page; requests: string[]; troubles: string[] }> {
    const page = await browser!.newPage()
    onTestFinished(() => page.close())
    const requests: string[] = []
    const troubles: string[] = []
    page.on('request', (request) => requests.push(`${request.resourceType()} ${new URL(request.url()).pathname}`))
    page.on('response', (response) => {
      // The browser asks for an icon, which this app has not.
      if (response.status() >= 400 && !response.url().endsWith('/favicon.ico')) {
        troubles.push(`${response.status()} ${response.url()}`)
      }
    })
    page.on('pageerror', (error) => troubles.push(String(error)))
    await page.goto(origin + path)
    return { page, requests, troubles }
  }

  const heading = (page: Page): Promise<string> => page.locator('h1').first().innerText()
  const shows = (page: Page, title: string): Promise<void> => expect.poll(() => heading(page), patient).toBe(title)
  const link = (page: Page, name: string): Promise<void> => page.getByRole('link', { name, exact: true }).click()

  it('goes from page to page without loading another document, back and forward', async () => {
    const { page, requests, troubles } = await open('/')
    await link(page, 'static')
    await shows(page, 'Static')
    await link(page, 'Home')
    await shows(page, 'Home')
    await link(page, 'isr')
    await shows(page, 'Rendered again each month')
    await page.goBack()
    await shows(page, 'Home')
    await page.goForward()
    await shows(page, 'Rendered again each month')
    expect(requests.filter((request) => request.startsWith('document'))).toEqual(['document /'])
    // Links that are seen are fetched ahead.
    expect(requests.some((request) => request.startsWith('fetch /photos'))).toBe(true)
    expect(troubles).toEqual([])
  })

  it('shows an image that Next has made smaller', async () => {
    const { page, troubles } = await open('/')
    const width = (): Promise<number> => page.evaluate(`document.querySelector('img').naturalWidth`)
    await expect.poll(width, patient).toBeGreaterThan(0)
    expect(troubles).toEqual([])
  })

  it('sends a form to a server action, and calls one from a button', async () => {
    const { page, troubles } = await open('/form')
    await page.getByLabel('Name').fill('Ada')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => page.locator('#name').innerText(), patient).toBe('Sent by Ada')
    await page.getByRole('button', { name: 'Likes: 0' }).click()
    await page.getByRole('button', { name: 'Likes: 1' }).waitFor(patient)
    expect(troubles).toEqual([])
  })

  it('shows the page that a server action redirects to, with the response of the action', async () => {
    const { page, requests, troubles } = await open('/form')
    await page.getByLabel('Name').fill('elsewhere')
    await page.getByRole('button', { name: 'Send' }).click()
    await shows(page, 'Static')
    expect(requests.filter((request) => request.endsWith(' /static'))).toEqual([])
    expect(logged).not.toContain('failed to get redirect response')
    expect(troubles).toEqual([])
  })

  it('shows what waits before what comes later', async () => {
    const { page, troubles } = await open('/streaming')
    await expect.poll(() => page.locator('.late').allInnerTexts(), patient).toEqual(['After 100 ms', 'After 300 ms'])
    expect(troubles).toEqual([])
  })

  it('opens a photo over the list, and on a page of its own when it is loaded', async () => {
    const { page, troubles } = await open('/photos')
    await link(page, 'Photo 1')
    await expect.poll(() => page.locator('dialog').innerText(), patient).toBe('Photo 1 over the list')
    await page.reload()
    await shows(page, 'Photo 1 on a page of its own')
    expect(troubles).toEqual([])
  })

  it('goes on by the Pages Router', async () => {
    const { page, requests, troubles } = await open('/old/static')
    await link(page, 'SSR')
    await shows(page, 'Rendered for each request, by the Pages Router')
    expect(requests).toContain('fetch /_next/data/build-1/old/ssr.json')
    expect(troubles).toEqual([])
  })
})
