// The steps by which a reader copies examples/stack, and the settings and limits of its server.

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { limitRequests } from '../../examples/stack/server/rate-limits.ts'
import { ROOT } from '../packaging/workspace-copy.ts'

const folder = join(ROOT, 'examples/stack')
const readme = readFileSync(join(folder, 'README.md'), 'utf8')
const [section] = /^## Copy it\n[\s\S]*?(?=^## )/m.exec(readme)!
/** Files that the table lists. */
const listed = [...section.matchAll(/^\| `(\S+)` /gm)].map(([, name]) => name!)

it('lists each file of examples/stack that needs a file outside of its folder', () => {
  const files = globSync('**/*.{ts,tsx,json}', {
    cwd: folder,
    exclude: (path) => /node_modules|\.next|next-env/.test(path),
  })
  const outside = files.filter((file) => {
    const up = '../'.repeat(file.split('/').length).slice(0, -1)
    const text = readFileSync(join(folder, file), 'utf8')
    return text.includes(`'${up}`) || text.includes(`"${up}`) || text.includes('@examples/close-on-signal')
  })
  const expected = outside.map((file) => file.replace(/^services\/.+/, 'services/*.ts'))
  expect(listed.toSorted()).toEqual([...new Set(expected)].toSorted())
})

it('copies each file that a changed import names', () => {
  const names = [...section.matchAll(/^\| .+ \| Import `(?:\.\.?\/)+(\S+\.ts)`/gm)].map(([, name]) => name!)
  const [command] = /^cp .+$/m.exec(section)!
  expect(names.length).toBe(2)
  for (const name of names) expect(command).toMatch(new RegExp(`/${name}\\b`))
})

describe('the settings of the server', () => {
  const needed = { ACCOUNTS_URL: 'http://a', ORDERS_URL: 'http://o', CATALOG_URL: 'http://c' }
  const secret = 'a'.repeat(32)
  const check = (env: Readonly<Record<string, string>>): string => {
    const file = join(folder, 'server/settings.ts')
    return spawnSync(process.execPath, [file], { env: { ...needed, ...env }, encoding: 'utf8' }).stderr
  }

  it.each([
    [{ SESSION_SECRET: secret.slice(1) }, 'Expected at least 32 characters in SESSION_SECRET, got 31.'],
    [{}, 'Expected SESSION_SECRET in the environment'],
    [{ SESSION_SECRET: secret, ACCOUNTS_URL: '' }, 'Expected ACCOUNTS_URL in the environment'],
    [{ SESSION_SECRET: secret, RATE_LIMIT: 'many' }, 'Expected a positive integer in RATE_LIMIT, got "many".'],
    [{ SESSION_SECRET: secret, RATE_LIMIT: '' }, 'Expected a positive integer in RATE_LIMIT, got "".'],
  ])('reject %j', (env, message) => {
    expect(check(env)).toContain(message)
  })

  it('accept a secret of 32 characters', () => {
    expect(check({ SESSION_SECRET: secret })).toBe('')
  })
})

describe('the rate limit of the server', () => {
  it.each([
    ['/_next/static/chunks/main.js', 200],
    ['/health', 200],
    ['/page', 429],
    // Next serves the page for these, as a browser would request it.
    ['/_next/static/../../page', 429],
    ['/_next/static/%2e%2e/%2E./page', 429],
    ['/_next/static/..\\..\\page', 429],
    ['//_next/static/page', 429],
  ])('responds to a second %s with %i', async (path, status) => {
    const app = Fastify()
    onTestFinished(() => app.close())
    await limitRequests(app, 1, undefined)
    app.get('/*', () => 'ok')
    await app.listen({ port: 0 })
    const { port } = app.server.address() as { port: number }
    const request = async (): Promise<number | undefined> => {
      const [response] = (await once(get({ port, path, agent: false }), 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode
    }
    expect(await request()).toBe(200)
    expect(await request()).toBe(status)
  })
})
