import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createNextOnFastify, type NextPluginOptions } from 'next-on-fastify'
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { BUILD_TIMEOUT, builtFixture, type Peers } from '../helpers/built-fixture.ts'

// Two builds of one source: the same paths below `basePath`, each with the name of its zone.
const ZONES = ['shop', 'blog'] as const
type Zone = (typeof ZONES)[number]
const PEERS: readonly Peers[] = ['newest', 'lowest']

const PROGRAM = fileURLToPath(new URL('../fixtures/servers/sharing.ts', import.meta.url))

const folders = new Map<string, string>()
const folderOf = (peers: Peers, zone: Zone): string => folders.get(`${peers} ${zone}`)!

beforeAll(async () => {
  for (const peers of PEERS) {
    for (const zone of ZONES) {
      folders.set(`${peers} ${zone}`, await builtFixture(peers, { ZONE: zone }, 'zone'))
    }
  }
}, BUILD_TIMEOUT)

afterEach(() => vi.unstubAllEnvs())

/** What a page shows. */
function shown(body: string): string | undefined {
  return /<h1>(.*?)<\/h1>/.exec(body.replaceAll('<!-- -->', ''))?.[1]
}

describe('two Next apps in one process', () => {
  const served = async (zone: Zone, responseCache: boolean): ReturnType<typeof createNextOnFastify> => {
    vi.stubEnv('ZONE', zone)
    const dir = folderOf('newest', zone)
    return createNextOnFastify({ dir, dev: false, prefix: `/${zone}`, responseCache })
  }

  it('are refused, with an in-memory response cache and without, and servers of the first go on', async () => {
    const servers = [await served('shop', true), await served('shop', false)] as const
    const refused = { code: 'NEXT_ON_FASTIFY_SECOND_APP' }
    for (const memory of [true, false]) await expect(served('blog', memory)).rejects.toMatchObject(refused)
    const demandOwn = async (app: (typeof servers)[number]): Promise<void> => {
      for (const path of ['', '/timed', '/old']) {
        expect(shown((await app.inject(`/shop${path}`)).body)).toMatch(/^(Home|Timed|Old) of shop$/)
      }
    }
    for (const app of servers) await demandOwn(app)
    await servers[0].close()
    // Next renders for both by one server.
    await demandOwn(servers[1])
    await servers[1].close()
    for (const zone of ZONES) await expect(served(zone, false)).rejects.toMatchObject(refused)
  })
})

async function started(peers: Peers, zone: Zone, responseCache: boolean): Promise<string> {
  const options: NextPluginOptions = { dir: folderOf(peers, zone), prefix: `/${zone}`, responseCache }
  const env = { ...process.env, NODE_ENV: 'production', ZONE: zone, OPTIONS: JSON.stringify(options) }
  const child: ChildProcess = fork(PROGRAM, { env, execArgv: [] })
  onTestFinished(() => void child.kill())
  const [origin] = (await once(child, 'message')) as [string]
  return `${origin}/${zone}`
}

describe.each(PEERS)('two Next apps in a process each, with the %s Next', (peers) => {
  it.each([
    ['with', true],
    ['without', false],
  ])('serve their own pages, cached and revalidated, %s an in-memory response cache', async (_, memory) => {
    const origins = await Promise.all(ZONES.map((zone) => started(peers, zone, memory)))
    const pages = async (path: string): Promise<unknown[]> =>
      Promise.all(origins.map(async (origin) => shown(await (await fetch(origin + path)).text())))
    const all = async (): Promise<unknown> => ({
      home: await pages(''),
      timed: await pages('/timed'),
      old: await pages('/old'),
    })
    const own = {
      home: ['Home of shop', 'Home of blog'],
      timed: ['Timed of shop', 'Timed of blog'],
      old: ['Old of shop', 'Old of blog'],
    }
    for (let time = 0; time < 3; time++) expect(await all()).toEqual(own)
    for (const origin of origins) {
      for (const path of ['/revalidate', '/api/revalidate']) {
        expect(await (await fetch(origin + path, { method: 'POST' })).text()).toBe('revalidated')
      }
    }
    for (let time = 0; time < 3; time++) expect(await all()).toEqual(own)
  })
})
