// The guides that lead to next-on-fastify, in an empty folder with its tarball: files word for word, but for the ports.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import getPort from 'get-port'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT } from '../suites/next.ts'
import { demand, pnpm, readJson, Tarball } from './tarball.ts'

const tarball = new Tarball('next-on-fastify')
const { project } = tarball
const repository = join(import.meta.dirname, '../..')
const children: ChildProcess[] = []

/** The files of a guide by name, each in its versions. */
function filesOf(guide: string): Map<string, string[]> {
  const text = readFileSync(join(repository, 'docs/guides', `${guide}.md`), 'utf8')
  const files = new Map<string, string[]>()
  for (const [, name, code] of text.matchAll(/```js\n\/\/ (\S+)\n([\s\S]*?)```/g)) {
    files.set(name!, [...(files.get(name!) ?? []), code!])
  }
  return files
}

function write(name: string, content: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true })
  writeFileSync(join(project, name), content)
}

/** Writes a file of `web` to another folder, as an app has a build before and one after. */
function writePage(name: string, folder: string, content: string): void {
  if (name.startsWith('web/')) write(name.replace('web', folder), content)
}

const nextBuild = (dir: string): Promise<unknown> =>
  demand(project, ['env', 'NEXT_TELEMETRY_DISABLED=1', tarball.program('next'), 'build', dir])

/** The origin of a server, as soon as it responds. */
async function start(program: string, args: readonly string[], port: number): Promise<string> {
  const env = { ...process.env, NODE_ENV: 'production', PORT: String(port), NEXT_TELEMETRY_DISABLED: '1' }
  const child = spawn(program, args, { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] })
  children.push(child)
  const origin = `http://localhost:${port}`
  await expect.poll(async () => (await fetch(origin)).status, { timeout: 60_000 }).toBeGreaterThan(0)
  return origin
}

/** Starts a server of a guide, on another port than it says. */
async function startServer(name: string, code: string, dir: string): Promise<string> {
  const port = await getPort()
  expect(code).toMatch(/\b300\d\b/)
  write(name, code.replaceAll(/\b300\d\b/g, String(port)).replace('./web', dir))
  return start(process.execPath, [name], port)
}

interface Received {
  readonly status: number
  readonly location: string | null
  readonly text: string
}

async function ask(origin: string, path: string, init: RequestInit = {}): Promise<Received> {
  const response = await fetch(origin + path, { redirect: 'manual', signal: AbortSignal.timeout(30_000), ...init })
  const text = await response.text()
  const heading = /<h1[^>]*>(.*?)<\/h1>/.exec(text)?.[1]
  return { status: response.status, location: response.headers.get('location'), text: heading ?? text }
}

const nextjs = filesOf('from-fastify-nextjs')
const nextStart = filesOf('from-next-start')

beforeAll(async () => {
  await tarball.install({ 'package.json': '{ "private": true, "type": "module" }\n' }, [
    ...['fastify', 'next', 'react', 'react-dom', '@fastify/under-pressure'],
  ])
  const before = join(repository, 'examples/next/node_modules/@fastify/nextjs/package.json')
  await demand(project, [
    ...pnpm(),
    'add',
    '--workspace-root',
    `@fastify/nextjs@${String(readJson(before)['version'])}`,
  ])
  for (const [name, versions] of nextjs) writePage(name, 'web-before', versions[0]!)
  for (const [name, versions] of nextjs) writePage(name, 'web-after', versions.at(-1)!)
  // The app of the other guide has other paths.
  for (const [name, versions] of nextStart) writePage(name, 'web-before', versions[0]!)
  await Promise.all([nextBuild('web-before'), nextBuild('web-after')])
}, BUILD_TIMEOUT)

afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  tarball.remove()
})

describe('the guide from-fastify-nextjs', () => {
  const signedIn = { headers: { 'x-user': 'Ada' } }
  const posted = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
  const cases: readonly [path: string, init: RequestInit, expected: Partial<Received>][] = [
    ['/', {}, { status: 200, text: 'Home' }],
    ['/account', signedIn, { status: 200, text: 'Account of Ada' }],
    ['/p/7', {}, { status: 200, text: 'Post 7' }],
    ['/p/a%26id=b', {}, { status: 200, text: 'Post a&amp;id=b' }],
    ['/api/echo', {}, { status: 200, text: '{"method":"GET","body":""}' }],
    ['/none', {}, { status: 404, text: '404' }],
    ['/status', {}, { status: 200, text: '{"status":"ok"}' }],
    ['/broken', {}, { status: 500, text: 'Out of service' }],
  ]

  it('converts an app whose responses stay the same', async () => {
    const before = await startServer('before.mjs', nextjs.get('before.mjs')![0]!, './web-before')
    const after = await startServer('after.mjs', nextjs.get('after.mjs')![0]!, './web-after')
    for (const [path, init, expected] of cases) {
      expect({ path, ...(await ask(before, path, init)) }).toMatchObject({ path, ...expected })
      expect({ path, ...(await ask(after, path, init)) }).toMatchObject({ path, ...expected })
    }
    expect(await ask(after, '/api/echo', posted)).toMatchObject({ text: '{"method":"POST","body":{"a":1}}' })
    // A guest gets neither the page nor its data.
    expect(await ask(before, '/account')).toMatchObject({ status: 302, location: '/' })
    expect(await ask(after, '/account')).toMatchObject({ status: 307, location: '/' })
    const id = readFileSync(join(project, 'web-after/.next/BUILD_ID'), 'utf8')
    const data = await fetch(`${after}/_next/data/${id}/account.json`)
    expect(await data.json()).toMatchObject({ pageProps: { __N_REDIRECT: '/' } })
  })

  it('maps each option and method that the package declares', () => {
    const types = readFileSync(join(project, 'node_modules/@fastify/nextjs/types/index.d.ts'), 'utf8')
    const guide = readFileSync(join(repository, 'docs/guides/from-fastify-nextjs.md'), 'utf8')
    const own = [...types.matchAll(/^ {4}(\w+)\?: /gm)].map(([, name]) => name!)
    const decorators = [...types.matchAll(/^ {4}(\w+)(?:<|\()/gm)].map(([, name]) => name!)
    expect(own).toEqual(['underPressure', 'noServeAssets'])
    expect(decorators).toEqual(['next', 'nextRender', 'nextRenderError'])
    const next = readFileSync(join(project, 'node_modules/next/dist/server/next.d.ts'), 'utf8')
    const bundlers = /NextBundlerOptions = \{([\s\S]*?)^\};/m.exec(next)![1]!
    const ofNext = [...bundlers.matchAll(/^ {4}(\w+)\?: /gm)].map(([, name]) => name!)
    expect(ofNext).toEqual(['turbo', 'turbopack', 'webpack'])
    for (const name of [...own, ...decorators, ...ofNext]) expect(guide).toMatch(new RegExp(`\\b${name}\\b`))
  })
})

describe('the guide from-next-start', () => {
  const paths = ['/news/1', '/news/2', '/hello?a=b', '/none', '/news/1/', '/hello%20', '/_next/none']

  it('has a server that responds as `next start` does', async () => {
    const port = await getPort()
    const before = await start(tarball.program('next'), ['start', 'web-before', '--port', String(port)], port)
    const after = await startServer('server.mjs', nextStart.get('server.mjs')![0]!, './web-before')
    for (const path of paths) {
      expect({ path, ...(await ask(after, path)) }).toEqual({ path, ...(await ask(before, path)) })
    }
    expect(await ask(after, '/news/1')).toMatchObject({ status: 200, text: 'News 1' })
    expect(await ask(after, '/hello?a=b')).toMatchObject({ status: 200, text: '{"query":"?a=b"}' })
  })

  it('converts a custom server whose responses stay the same', async () => {
    const before = await startServer('custom.mjs', nextStart.get('custom.mjs')![0]!, './web-before')
    const after = await startServer('converted.mjs', nextStart.get('converted.mjs')![0]!, './web-before')
    for (const path of [...paths, '/health', '/latest?id=7']) {
      expect({ path, ...(await ask(after, path)) }).toEqual({ path, ...(await ask(before, path)) })
      expect((await fetch(after + path)).headers.get('x-frame-options')).toBe('DENY')
    }
    expect(await ask(after, '/health')).toMatchObject({ status: 200, text: 'ok' })
    expect(await ask(after, '/latest?id=7')).toMatchObject({ status: 200, text: 'News 7' })
  })
})
