// What two users of examples/stack see in Chromium and over HTTP, while its server is reloaded.

import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { send } from '../stack/client.ts'
import { type Stack, startStack } from '../stack/started-stack.ts'
import { type Credentials, guest, startVisits, User } from '../stack/visitors.ts'
import { BUILD_TIMEOUT } from '../suites/next.ts'
import { launchChromium } from './chromium.ts'

/** 20 in `test:nightly`. */
const RELOADS = Number(process.env['STACK_RELOADS'] ?? 3)
/** Visits of each visitor between two reloads, at least. */
const BETWEEN = 3
const patient = { timeout: 60_000 }

const browser = await launchChromium()
if (!browser) console.warn('NOT TESTED, as there is no browser: install Chrome, or set CHROMIUM_PATH')
afterAll(() => browser?.close())

let stack: Stack
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  // An open event stream lasts until the drain timeout of its worker.
  stack = await startStack({ RATE_LIMIT: '1000000', DRAIN_TIMEOUT: '2000' })
}, BUILD_TIMEOUT)
afterAll(async () => {
  agent.destroy()
  await stack.stop()
})

const names = (): string[] => stack.users.map(({ name }) => name)
const othersOf = (name: string): string[] => names().filter((other) => other !== name)
const signIn = (user: Credentials): Promise<User> => User.signIn(stack.origin, user, othersOf(user.name), agent)

describe('guests of the stack', () => {
  it.each([
    ['/handbook', {}],
    ['/handbook', { rsc: '1' }],
    ['/handbook', { rsc: '1', 'next-router-prefetch': '1' }],
    ['/handbook', { rsc: '1', 'next-router-prefetch': '1', 'next-router-segment-prefetch': '/_tree' }],
    ['/handbook', { 'x-middleware-subrequest': 'proxy:proxy:proxy:proxy:proxy' }],
    ['/handbook', { 'x-middleware-next': '1' }],
    ['/handbook?_rsc=1', {}],
    ['/handbook/', {}],
    ['//handbook', {}],
    ['/%68andbook', {}],
    ['/handbook.rsc', {}],
    ['/handbook.html', {}],
    ['/handbook.segments/_full.segment.rsc', {}],
    ['/_next/data/build/handbook.json', {}],
    ['/catalog/../handbook', {}],
  ])('never get the page behind the middleware: %s with %j', async (path, headers) => {
    // It is cached, as a user has seen it.
    const [user] = stack.users
    cookie ??= (await signInForCookie(user)) ?? ''
    const own = await send(`${stack.origin}/handbook`, { headers: { cookie }, agent })
    expect(own.body).toContain('For staff only')
    expect(own.headers['cache-control']).toBe('private, no-store')
    const { status, body } = await send(stack.origin + path, { headers, agent })
    expect(status).toBeLessThan(500)
    expect(body).not.toContain('For staff only')
  })

  it.each(['/handbook', '/dashboard', '/catalog/edit'])(
    'get a redirect from %s that no other cache may store',
    async (path) => {
      const { status, headers } = await send(stack.origin + path, { agent })
      expect(status).toBe(307)
      expect(headers['cache-control']).toBe('private, no-store')
    },
  )
})
let cookie: string | undefined

async function signInForCookie(json: Credentials): Promise<string | undefined> {
  const { headers } = await send(`${stack.origin}/trpc/session.signIn`, { json, agent })
  return headers['set-cookie']?.[0]?.split(';')[0]
}

describe('forwarded headers', () => {
  it('of a client change nothing: the redirect stays on this host', async () => {
    const headers = {
      'x-forwarded-host': 'elsewhere.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '1.2.3.4',
    }
    const { headers: received } = await send(`${stack.origin}/dashboard`, { headers, agent })
    expect(received.location).toBe('/sign-in')
    const signedIn = await send(`${stack.origin}/trpc/session.signIn`, { headers, json: stack.users[0], agent })
    // Without TLS there is no secure cookie, whatever a client says.
    expect(signedIn.headers['set-cookie']?.[0]).toMatch(/SameSite=Lax$/)
  })
})

describe('users of the stack', () => {
  it('get the page behind the middleware from the cache', async () => {
    cookie ??= (await signInForCookie(stack.users[0])) ?? ''
    const headers = { cookie }
    const how = async (): Promise<unknown> =>
      (await send(`${stack.origin}/handbook`, { headers, agent })).headers['cache-status']
    await expect.poll(how, patient).toBe('next-on-fastify; hit')
  })
})

describe('the stack', () => {
  it('shows a trace of the gateway and of a batch, and metrics of all workers', async ({ annotate }) => {
    await annotate(`up after ${Math.round(stack.startedIn / 1000)} s`)
    const user = await signIn(stack.users[0])
    await user.visit()
    const trace = async (find: string): Promise<string> => (await send(`${stack.traces}/?find=${find}`)).body
    await expect
      .poll(() => trace('accounts'), patient)
      .toMatch(/^GET \/api\/dashboard .+\n(?: +.+\n)*? +GET \/accounts/)
    await expect.poll(() => trace('orders.list'), patient).toMatch(/^ +session\.user .+\n +orders\.list /m)
    const { body } = await send(stack.metrics)
    for (const metric of [
      'next_response_cache_hits_total',
      'gateway_call_duration_seconds',
      'trpc_call_duration_seconds',
    ])
      expect(body).toContain(metric)
  })

  it.skipIf(!browser)(
    'shows each user only their own data, and no stale page, while its server is reloaded under load',
    { timeout: 600_000 },
    async ({ annotate }) => {
      const users = await Promise.all(stack.users.map(signIn))
      const pages = await Promise.all(stack.users.map(open))
      const load = startVisits([...users, guest(stack.origin, names(), agent), guest(stack.origin, names(), agent)])
      let price = 1000
      for (let reload = 1; reload <= RELOADS; reload++) {
        const before = load.visits()
        await expect.poll(load.visits, patient).toBeGreaterThan(before + BETWEEN * 4)
        process.kill(stack.primary, 'SIGHUP')
        while ((await reloads()) < reload) {
          price++
          await changePrice(pages[price % 2]!.page, price)
          await Promise.all(pages.map(({ page, name }) => order(page, `${name} buys ${price}`)))
        }
      }
      await load.end()
      await annotate(`${load.visits()} visits, ${load.failures.length} failed`)
      expect(load.failures).toEqual([])
      for (const { page, troubles } of pages) {
        expect(troubles).toEqual([])
        await page.context().close()
      }
      for (const user of users) expect(await user.orderCount()).toBeGreaterThanOrEqual(user.ordered)
    },
  )

  it('limits attempts to sign in, over all workers', async ({ skip }) => {
    skip(!stack.hasRedis, 'each worker counts by itself without Redis')
    const attempt = async (): Promise<number> =>
      (await send(`${stack.origin}/trpc/session.signIn`, { json: { name: 'ada', password: 'wrong' } })).status
    const statuses = []
    for (let count = 0; count < 12; count++) statuses.push(await attempt())
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
    expect(statuses.at(-1)).toBe(429)
  })

  it('ends with code 0 on Ctrl-C', async () => {
    expect(await stack.stop()).toEqual([0, null])
  })
})

interface Window {
  readonly name: string
  readonly page: Page
  /** What the console shows in red or yellow, and requests that failed. */
  readonly troubles: string[]
}

/** Signs in, in a browser of this user's own. */
async function open({ name, password }: Credentials): Promise<Window> {
  const context = await browser!.newContext()
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(String(error)))
  page.on('requestfailed', (request) => {
    const reason = String(request.failure()?.errorText)
    // The page itself ends requests when it is left.
    if (reason !== 'net::ERR_ABORTED') troubles.push(`${reason} ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(`${stack.origin}/sign-in`)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect.poll(() => page.locator('h1').innerText(), patient).toBe(`Dashboard of ${name}`)
  return { name, page, troubles }
}

/** By the form of the server action. Then nobody gets the old price, from whatever worker. */
async function changePrice(page: Page, price: number): Promise<void> {
  await page.goto(`${stack.origin}/catalog/edit`)
  const form = page.locator('form', { has: page.locator('input[value=lamp]') })
  await form.getByRole('spinbutton').fill(String(price))
  await form.getByRole('button').click()
  const expected = `€${price.toLocaleString('en')}.00`
  await expect.poll(() => page.locator('[data-product=lamp] .price').innerText(), patient).toBe(expected)
  for (let count = 0; count < 10; count++) {
    // With a connection of its own, by turns.
    const { body } = await send(`${stack.origin}/catalog`, count % 2 === 0 ? { agent } : {})
    expect(body).toContain(expected)
  }
}

/** The order comes back by the subscription. */
async function order(page: Page, product: string): Promise<void> {
  await page.getByRole('link', { name: 'Dashboard' }).click()
  const button = page.getByRole('button', { name: 'Order' })
  // Until then, React may still empty the form of the order before.
  await expect.poll(() => button.isEnabled(), patient).toBe(true)
  // Looks with each frame, and in the browser: orders of the visitors move this one out of sight in some seconds.
  const shown = page.waitForFunction(
    `document.querySelector('#orders')?.innerText.includes(${JSON.stringify(product)})`,
    undefined,
    patient,
  )
  await page.getByLabel('Product').fill(product)
  await button.click()
  await shown
}

async function reloads(): Promise<number> {
  await sleep(50)
  const { body } = await send(stack.metrics)
  return Number(/^clustered_server_reloads_total\{done="true"\} (\d+)$/m.exec(body)![1])
}
