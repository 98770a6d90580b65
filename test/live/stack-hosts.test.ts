// examples/stack on two hosts behind HAProxy, each a network namespace of its own. They share Redis and the services.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { foundProgram, requireProgram } from '@test/required-program'
import getPort from 'get-port'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashPassword } from '../../examples/stack/services/passwords.ts'
import { send } from '../stack/client.ts'
import { type Credentials, guest, startVisits, User, type Visitor } from '../stack/visitors.ts'
import { BUILD_TIMEOUT } from '../suites/next.ts'
import { addHost, canMakeHosts, type Host, ip, removeHost } from './network-hosts.ts'

const examples = (file: string): string => fileURLToPath(new URL(`../../examples/${file}`, import.meta.url))

const hosts: readonly Host[] = [
  { name: 'stack-a', gateway: '10.204.1.1', address: '10.204.1.2' },
  { name: 'stack-b', gateway: '10.204.2.1', address: '10.204.2.2' },
]
const users: readonly Credentials[] = ['ada', 'grace'].map((name) => ({
  name,
  password: randomBytes(9).toString('base64url'),
}))
const sessionSecret = randomBytes(32).toString('base64url')

/** Requests that a visitor has under way at a time. */
const REQUESTS = 1
const patient = { timeout: 60_000 }

/** All that runs on this machine, and the servers of the hosts. */
const started: ChildProcess[] = []
const servers = new Map<Host, ChildProcess>()
/** Ports on this machine, which each host reaches by its gateway. */
const ports = { accounts: 0, orders: 0, catalog: 0, redis: 0 }
let folder: string
let origin: string
let agent: Agent

describe.runIf(
  canMakeHosts() &&
    requireProgram('haproxy', 'haproxy') &&
    requireProgram(['redis-server', 'valkey-server'], 'redis-server'),
)('two hosts with the stack behind HAProxy', () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stack-hosts-'))
    // What a run that was killed has left.
    hosts.forEach(removeHost)
    hosts.forEach(addHost)
    await startServices()
    await build()
    await Promise.all(hosts.map(startServer))
    await startHaproxy()
    agent = new Agent({ keepAlive: true })
  }, BUILD_TIMEOUT)

  afterEach(async () => {
    agent.destroy()
    const all = [...started.splice(0), ...servers.values()]
    servers.clear()
    for (const child of all) child.kill('SIGKILL')
    await Promise.all(all.map(ended))
    hosts.forEach(removeHost)
    await rm(folder, { recursive: true })
  })

  it('a rolling restart fails no request, keeps sessions, and shows no user the data of another', async ({
    annotate,
  }) => {
    const visitors = await signedIn()
    const load = startVisits([...visitors, guest(origin, names, agent)])
    for (const host of hosts) {
      const before = load.visits()
      await expect.poll(load.visits, patient).toBeGreaterThan(before + 10)
      const server = servers.get(host)!
      server.kill('SIGTERM')
      expect(await ended(server)).toEqual([0, null])
      await startServer(host)
      await isUpInHaproxy()
    }
    await load.end()
    await annotate(`${load.visits()} visits, ${load.failures.length} failed`)
    expect(load.failures).toEqual([])
    for (const user of visitors) expect(await user.orderCount()).toBe(user.ordered)
  }, 300_000)

  it('a host that is killed takes with it the requests that it had, and sessions live on', async ({ annotate }) => {
    const visitors: Visitor[] = [...(await signedIn()), guest(origin, names, agent)]
    const load = startVisits(visitors)
    await expect.poll(load.visits, patient).toBeGreaterThan(10)
    // From one moment on, what is sent to it is lost.
    ip('-n', hosts[0]!.name, 'link', 'set', 'inside', 'down')
    servers.get(hosts[0]!)!.kill('SIGKILL')
    const before = load.visits()
    await expect.poll(load.visits, patient).toBeGreaterThan(before + 50)
    await load.end()
    await annotate(`${load.visits()} visits, ${load.failures.length} failed`)
    expect(load.failures.length).toBeLessThanOrEqual(visitors.length * REQUESTS)
    // All is right on the host that is left.
    for (const visitor of visitors) await visitor.visit()
  }, 300_000)
})

const names = users.map(({ name }) => name)

function signedIn(): Promise<User[]> {
  return Promise.all(
    users.map((user) =>
      User.signIn(
        origin,
        user,
        names.filter((name) => name !== user.name),
        agent,
      ),
    ),
  )
}

async function startServices(): Promise<void> {
  const accounts = await Promise.all(
    users.map(async ({ name, password }) => ({ name, fullName: name, passwordHash: await hashPassword(password) })),
  )
  const own = { ACCOUNTS: JSON.stringify(accounts) }
  // The hosts reach them by their gateways, and nobody else does: the interfaces end in the namespaces.
  const service = async (name: string): Promise<number> =>
    listening(run([process.execPath, examples(`stack/services/${name}.ts`)], { ...own, HOST: '0.0.0.0', PORT: '0' }))
  ;[ports.accounts, ports.orders, ports.catalog] = (await Promise.all(
    ['accounts', 'orders', 'catalog'].map(service),
  )) as [number, number, number]
  ports.redis = await getPort()
  const redis = foundProgram(['redis-server', 'valkey-server'])!
  const addresses = ['127.0.0.1', ...hosts.map(({ gateway }) => gateway)]
  const options = ['--port', String(ports.redis), '--bind', ...addresses, '--protected-mode', 'no', '--save', '']
  started.push(spawn(redis, [...options, '--dir', folder], { stdio: 'ignore' }))
}

function servicesOf(address: string): Record<string, string> {
  return {
    ACCOUNTS_URL: `http://${address}:${ports.accounts}`,
    ORDERS_URL: `http://${address}:${ports.orders}`,
    CATALOG_URL: `http://${address}:${ports.catalog}`,
    REDIS_URL: `redis://${address}:${ports.redis}`,
  }
}

async function build(): Promise<void> {
  const child = spawn(process.execPath, [examples('stack/build.ts')], {
    env: { ...process.env, ...servicesOf('127.0.0.1') },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  expect(await ended(child)).toEqual([0, null])
}

async function startServer(host: Host): Promise<void> {
  const command = ['ip', 'netns', 'exec', host.name, process.execPath, examples('stack/server.ts')]
  const env = {
    ...servicesOf(host.gateway),
    SESSION_SECRET: sessionSecret,
    HOST: '0.0.0.0',
    PORT: '3000',
    ADMIN_HOST: '0.0.0.0',
    ADMIN_PORT: '3001',
    AGENT_PORT: '3002',
    RATE_LIMIT: '1000000',
    // HAProxy asks every 200 ms whether the host is ready.
    SHUTDOWN_DELAY: '2000',
    LOG_LEVEL: 'warn',
  }
  const child = run(command, env)
  started.pop()
  servers.set(host, child)
  await listening(child)
}

function run([program = '', ...words]: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(program, words, {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  return child
}

/** The port that a server prints. */
async function listening({ stdout }: ChildProcess): Promise<number> {
  let printed = ''
  for await (const chunk of stdout!.iterator({ destroyOnReturn: false })) {
    printed += String(chunk)
    const port = /port: (\d+)/.exec(printed)?.[1]
    if (port === undefined) continue
    stdout!.resume()
    return Number(port)
  }
  throw new Error(`It has ended:\n${printed}`)
}

async function startHaproxy(): Promise<void> {
  const port = await getPort()
  origin = `http://127.0.0.1:${port}`
  const env = {
    ...process.env,
    HAPROXY_BIND: `127.0.0.1:${port}`,
    HOST_A: hosts[0]!.address,
    HOST_B: hosts[1]!.address,
  }
  started.push(spawn('haproxy', ['-q', '-db', '-f', examples('deploy/haproxy.cfg')], { env, stdio: 'inherit' }))
  await expect
    .poll(
      () =>
        send(`${origin}/health`).then(
          ({ status }) => status,
          () => 0,
        ),
      patient,
    )
    .toBe(200)
}

/** HAProxy checks every 200 ms. It is to see the host before the other one goes. */
async function isUpInHaproxy(): Promise<void> {
  await sleep(2000)
}

async function ended(child: ChildProcess): Promise<unknown[]> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return [child.exitCode, child.signalCode]
}
