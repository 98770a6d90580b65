// What a user of the page in examples/trpc sees, in Chromium.

import type { Page } from 'playwright-core'
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { endSubjects, startSubject, type SubjectProcess } from '../running-subjects.ts'
import { launchChromium } from './chromium.ts'

const browser = await launchChromium()
if (!browser) console.warn('NOT TESTED, as there is no browser: install Chrome, or set CHROMIUM_PATH')
afterAll(() => browser?.close())

afterEach(endSubjects)

async function start(port = '0'): Promise<{ server: SubjectProcess; origin: string }> {
  const { child, origin } = await startSubject(new URL('../../examples/trpc/page.ts', import.meta.url), { port })
  child.stderr.pipe(process.stderr)
  if (origin === '') throw new Error('The server has ended')
  return { server: child, origin }
}

interface Visit {
  readonly page: Page
  /** The paths of the tRPC requests. */
  readonly requests: string[]
  /** What the console shows in red or yellow, and requests that failed. */
  readonly troubles: { path: string; reason: string }[]
}

async function open(origin: string): Promise<Visit> {
  const page = await browser!.newPage()
  onTestFinished(() => page.close())
  const visit: Visit = { page, requests: [], troubles: [] }
  const pathOf = (url: string): string => url && new URL(url).pathname
  const trouble = (url: string, reason: string): void => void visit.troubles.push({ path: pathOf(url), reason })

  page.on('request', (request) => {
    const path = pathOf(request.url())
    if (path.startsWith('/trpc/')) visit.requests.push(path)
  })
  page.on('requestfailed', (request) => {
    const reason = String(request.failure()?.errorText)
    // The page itself ends such a request: @trpc/client does when it has all it wants of a stream.
    if (reason !== 'net::ERR_ABORTED') trouble(request.url(), reason)
  })
  page.on('response', (response) => {
    if (!response.ok()) trouble(response.url(), String(response.status()))
  })
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) trouble(message.location().url, message.text())
  })
  page.on('pageerror', (error) => trouble(page.url(), String(error)))

  await page.goto(origin)
  return visit
}

const pathsOf = (troubles: Visit['troubles']): string[] => [...new Set(troubles.map(({ path }) => path))]

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()

const text = (page: Page, id: string): Promise<string> => page.locator(`#${id}`).innerText()

const numbersOn = async (page: Page): Promise<number[]> => (await text(page, 'numbers')).split(' ').map(Number)

const patient = { timeout: 60_000 }

/** Waits for an output to say this, and nothing else. */
async function shown(page: Page, id: string, expected: string): Promise<void> {
  await expect.poll(() => text(page, id), patient).toBe(expected)
}

async function countedTo(page: Page, number: number): Promise<void> {
  await expect.poll(() => numbersOn(page), patient).toContain(number)
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)

describe.skipIf(!browser)('the page of examples/trpc', () => {
  it('shows what queries and mutations answer, and why they are refused', async () => {
    const { origin } = await start()
    const { page, troubles } = await open(origin)
    await page.getByLabel('Name').fill('Grace')
    await press(page, 'Greet')
    await shown(page, 'greeting', 'Hello Grace')
    await page.getByLabel('Name').fill('')
    await press(page, 'Greet')
    await shown(page, 'greeting', 'BAD_REQUEST: Too small: expected string to have >=1 characters')
    await page.getByLabel('Note').fill('Call home')
    await press(page, 'Take note')
    await shown(page, 'noted', '9 characters')
    await press(page, 'Try it')
    await shown(page, 'refused', 'FORBIDDEN: Not for you')
    await shown(page, 'fast', '4')
    expect(await text(page, 'official')).toBe('0')
    expect(troubles).toEqual([])
  })

  it('shows the fast answers of a batch while the slow one is on its way', async () => {
    const { origin } = await start()
    const { page, requests, troubles } = await open(origin)
    await page.getByLabel('Milliseconds').fill('2000')
    // Looks with each frame, and in the browser: this process could be too late.
    const streamed = page.waitForFunction(`document.querySelector(
      '#batch:has(#hello[data-state=done]):has(#later[data-state=done]):has(#slow[data-state=waiting])'
    )`)
    await press(page, 'Call all')
    await streamed
    expect(await text(page, 'hello')).toBe('world')
    expect(await text(page, 'later')).toBe('later')
    await shown(page, 'slow', 'slow')
    await shown(page, 'fast', '1')
    expect(await text(page, 'official')).toBe('0')
    expect(requests).toEqual(['/trpc/slow,later,hello'])
    expect(troubles).toEqual([])
  })

  it('uploads a file and loads a lazy router, which is left to the official adapter', async () => {
    const { origin } = await start()
    const { page, troubles } = await open(origin)
    const upload = async (size: number): Promise<void> => {
      const file = { name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.alloc(size, 'a') }
      await page.getByLabel('File').setInputFiles(file)
      await press(page, 'Upload')
    }
    await upload(2000)
    await shown(page, 'uploaded', 'list.txt, 2000 bytes')
    await press(page, 'Check')
    await shown(page, 'health', 'Healthy')
    await shown(page, 'official', '1 (content-type), 1 (procedure)')
    expect(await text(page, 'fast')).toBe('0')
    // Now it is loaded.
    await press(page, 'Check')
    await shown(page, 'fast', '1')
    expect(await text(page, 'health')).toBe('Healthy')
    expect(troubles).toEqual([])

    await upload(2_000_000)
    await expect.poll(() => text(page, 'uploaded'), patient).toMatch(/^PAYLOAD_TOO_LARGE: /)
    expect(pathsOf(troubles)).toEqual(['/trpc/upload'])
  })

  it('counts to the end of a subscription', async () => {
    const { origin } = await start()
    const { page, requests, troubles } = await open(origin)
    await page.getByLabel('Count to').fill('30')
    await press(page, 'Start')
    await shown(page, 'connection', 'Complete')
    expect(await numbersOn(page)).toEqual(upTo(30))
    await shown(page, 'fast', '1')
    expect(await text(page, 'official')).toBe('0')
    expect(requests).toEqual(['/trpc/count'])
    expect(troubles).toEqual([])
  })

  it('goes on counting where it was when the server has been away', async () => {
    const { server, origin } = await start()
    const { page, troubles } = await open(origin)
    await page.getByLabel('Count to').fill('10000')
    await press(page, 'Start')
    await shown(page, 'connection', 'Connected')
    await countedTo(page, 20)
    expect(troubles).toEqual([])

    server.kill('SIGKILL')
    await shown(page, 'connection', 'Connecting again …')
    const { length: before } = await numbersOn(page)
    await start(new URL(origin).port)
    await shown(page, 'connection', 'Connected')
    await countedTo(page, before + 20)
    // All else works on, too. The new server knows of these two requests only.
    await press(page, 'Greet')
    await shown(page, 'greeting', 'Hello Ada')
    await shown(page, 'fast', '2')
    expect(await text(page, 'official')).toBe('0')

    await press(page, 'Stop')
    await shown(page, 'connection', 'Stopped')
    const numbers = await numbersOn(page)
    expect(numbers).toEqual(upTo(numbers.length))
    // It is seen that the connection was lost, and nothing else.
    expect(pathsOf(troubles)).toEqual(['/trpc/count'])
  })
})
