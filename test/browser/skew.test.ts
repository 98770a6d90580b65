// What a user sees whose page is open while a new build is deployed.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../packages/clustered-server/src/index.ts'
import { BUILD_TIMEOUT, builtFixture } from '../../packages/next-on-fastify/test/helpers/built-fixture.ts'
import { launchChromium } from './chromium.ts'

const APP = new URL('../../packages/next-on-fastify/test/fixtures/servers/skew.ts', import.meta.url)
const patient = { timeout: 60_000 }

const browser = await launchChromium()
if (!browser) console.warn('NOT TESTED, as there is no browser: install Chrome, or set CHROMIUM_PATH')
afterAll(() => browser?.close())

describe.skipIf(!browser)('a page that is open during a deploy', () => {
  const dirs: string[] = []
  beforeAll(async () => {
    for (const version of ['a', 'b']) dirs.push(await builtFixture('newest', { SKEW_VERSION: version }, 'skew'))
  }, BUILD_TIMEOUT)

  /** Serves the first build; each reload deploys the next one. */
  async function serve(time: number): Promise<ClusteredServer> {
    const server = await createClusteredServer(APP, {
      ...{ workers: 2, standby: false, port: 0, host: '127.0.0.1', signals: false, linger: { time } },
      env: (generation) => ({ NODE_ENV: 'production', NEXT_DIR: dirs[generation - 1]! }),
    })
    onTestFinished(() => server.close())
    return server
  }

  /** Opens a page, and collects its documents, the files without the id of a build, and all that goes wrong. */
  async function open(
    server: ClusteredServer,
    path: string,
  ): Promise<{ page: Page; documents: string[]; troubles: string[] }> {
    const page = await browser!.newPage()
    onTestFinished(() => page.close())
    const documents: string[] = []
    const troubles: string[] = []
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (request.resourceType() === 'document') documents.push(url.pathname)
      else if (url.pathname.startsWith('/_next/static/') && !url.searchParams.has('dpl'))
        troubles.push(`no id: ${url.href}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 400 && !response.url().endsWith('/favicon.ico'))
        troubles.push(`${response.status()} ${response.url()}`)
    })
    page.on('pageerror', (error) => troubles.push(String(error)))
    page.on('console', (message) => {
      // The app has no icon.
      if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) troubles.push(message.text())
    })
    await page.goto(`http://127.0.0.1:${server.port}${path}`)
    return { page, documents, troubles }
  }

  const shows = (page: Page, selector: string, text: string): Promise<void> =>
    expect.poll(() => page.locator(selector).first().innerText(), patient).toBe(text)
  const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click()
  const follow = (page: Page, name: string): Promise<void> => page.getByRole('link', { name, exact: true }).click()

  it('keeps working: a lazy chunk, a server action and a navigation, without a reload', async () => {
    const server = await serve(3_600_000)
    const { page, documents, troubles } = await open(server, '/')
    await shows(page, 'h1', 'Home of a')
    await server.reload()
    await press(page, 'Open')
    await shows(page, '#lazy', 'Lazy part of a')
    await press(page, 'Act')
    await shows(page, '#action', 'Action of a')
    await follow(page, 'Next')
    await shows(page, 'h1', 'Next page of a')
    await follow(page, 'Home')
    await shows(page, 'h1', 'Home of a')
    expect(documents).toEqual(['/'])
    expect(troubles).toEqual([])
    const other = await open(server, '/')
    await shows(other.page, 'h1', 'Home of b')
  })

  it('keeps working in the Pages Router', async () => {
    const server = await serve(3_600_000)
    const { page, documents, troubles } = await open(server, '/old/first')
    await server.reload()
    await follow(page, 'Second')
    await shows(page, 'h1', 'Second of a')
    expect(documents).toEqual(['/old/first'])
    expect(troubles).toEqual([])
  })

  it('loads the new build with its next navigation once the older build has retired', async () => {
    const server = await serve(500)
    const { page, documents } = await open(server, '/')
    await shows(page, 'h1', 'Home of a')
    const ended = new Promise((resolve) => server.once('lingerEnd', resolve))
    await server.reload()
    expect(await ended).toEqual({ generation: 1, reason: 'time' })
    await expect.poll(() => server.status().workers.map(({ generation }) => generation), patient).toEqual([2, 2])
    await follow(page, 'Next')
    await shows(page, 'h1', 'Next page of b')
    expect(documents).toEqual(['/', '/next'])
  })
})
