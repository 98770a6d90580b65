// Two hosts behind HAProxy, as examples/deploy has it: each is a network namespace with a server of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { requireProgram } from '@test/required-program'
import getPort from 'get-port'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addHost, canMakeHosts, type Host, ip, removeHost } from './network-hosts.ts'

const deploy = (file: string): string => fileURLToPath(new URL(`../../examples/deploy/${file}`, import.meta.url))

/** Milliseconds between SIGTERM and the end of new connections: HAProxy asks every 200. */
const SHUTDOWN_DELAY = '1000'
const CLIENTS = 10

const hosts: readonly Host[] = [
  { name: 'bounds-a', gateway: '10.203.1.1', address: '10.203.1.2' },
  { name: 'bounds-b', gateway: '10.203.2.1', address: '10.203.2.2' },
]

const running = new Map<Host, ChildProcess>()
let haproxy: ChildProcess | undefined
let port: number

describe.runIf(canMakeHosts() && requireProgram('haproxy', 'haproxy'))('two hosts behind HAProxy', () => {
  beforeEach(async () => {
    // What a run that was killed has left.
    hosts.forEach(removeHost)
    hosts.forEach(addHost)
    await Promise.all(hosts.map(startServer))
    port = await getPort()
    const env = {
      ...process.env,
      HAPROXY_BIND: `127.0.0.1:${port}`,
      HOST_A: hosts[0]!.address,
      HOST_B: hosts[1]!.address,
    }
    haproxy = spawn('haproxy', ['-q', '-db', '-f', deploy('haproxy.cfg')], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await until(async () => (await ask('GET')).status === 200)
  }, 60_000)

  afterEach(async () => {
    const all = [...running.values(), ...(haproxy ? [haproxy] : [])]
    for (const child of all) child.kill('SIGKILL')
    await Promise.all(all.map(ended))
    running.clear()
    hosts.forEach(removeHost)
  })

  it('a rolling restart of both loses no request', async () => {
    const load = startLoad()
    for (const host of hosts) {
      const child = running.get(host)!
      child.kill('SIGTERM')
      expect(await ended(child)).toEqual({ code: 0, signal: null })
      await startServer(host)
      // HAProxy is to see it before the other one goes.
      await sleep(1000)
    }
    const { answers, failures } = await load.end()
    expect(failures).toEqual([])
    expect(answers).toBeGreaterThan(1000)
  })

  it('a host that is pulled out takes the requests with it that it had, and no others', async () => {
    const load = startLoad()
    await sleep(1000)
    // From one moment on, what is sent to it is lost.
    ip('-n', hosts[0]!.name, 'link', 'set', 'inside', 'down')
    await sleep(3000)
    const { failures, answersLately } = await load.end()
    // Each client had one request under way at most.
    expect(failures.length).toBeLessThanOrEqual(CLIENTS)
    expect(answersLately).toBeGreaterThan(100)
  })
})

async function startServer(host: Host): Promise<void> {
  const env = { ...process.env, HOST: '0.0.0.0', PORT: '3000', NODE_ENV: 'production', SHUTDOWN_DELAY }
  const child = spawn('ip', ['netns', 'exec', host.name, process.execPath, deploy('server.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.set(host, child)
  await once(child.stdout, 'data')
}

async function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return { code: child.exitCode, signal: child.signalCode }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo().catch(() => false))) await sleep(50)
}

/** Clients of HAProxy that ask, one request after the other, on connections that they keep. */
function startLoad(): {
  end: () => Promise<{ answers: number; answersLately: number; failures: readonly string[] }>
} {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const over = new AbortController()
  const failures: string[] = []
  const times: number[] = []
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    while (!over.signal.aborted) {
      try {
        const { status } = await ask(client % 2 === 0 ? 'GET' : 'POST', agent)
        if (status === 200) times.push(performance.now())
        else failures.push(String(status))
      } catch (error) {
        failures.push((error as NodeJS.ErrnoException).code ?? String(error))
      }
      await sleep(Math.random() * 10)
    }
  })
  return {
    end: async () => {
      over.abort()
      await Promise.all(clients)
      agent.destroy()
      const lately = performance.now() - 1000
      return { answers: times.length, answersLately: times.filter((time) => time > lately).length, failures }
    },
  }
}

function ask(method: 'GET' | 'POST', agent?: Agent): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, path: '/', ...(agent && { agent }) }, (response) => {
      response.resume().once('end', () => resolve({ status: response.statusCode! }))
    })
      .once('error', reject)
      .end()
  })
}
